"""The stages of a jitted function: traced, lowered, compiled.

They wrap the stages of jax and show them as the user knows his function: with Modules that hold
shapes, shardings and so on in place of values.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol

import jax

from typed_nnx._core.jax_runtime import hides_frames
from typed_nnx._core.nodes import TreeDef
from typed_nnx._core.settings import typed_as
from typed_nnx._transforms.engine.argnums import Statics
from typed_nnx._transforms.engine.call import Call, place_name
from typed_nnx._transforms.engine.closures import Parameters, describe
from typed_nnx._transforms.engine.explain import differences, kind_of_root
from typed_nnx._transforms.engine.lift import Lift, P, R
from typed_nnx._transforms.engine.signature import Argument, Part, Pure, Signature, TraceResult
from typed_nnx._transforms.engine.write import built_arguments, built_result, changes
from typed_nnx.errors import CompiledCallError, ExportError

if TYPE_CHECKING:
    from typed_nnx._transforms import stage_overloads as overloads
from typed_nnx._transforms.engine.prefixes import Tree, Value


def structural_mismatches(names: Parameters, before: Signature, after: Signature) -> list[str]:
    """Return what differs between the objects of two calls, a line for each place."""
    lines: list[str] = []
    for place, old, new in _pairs(names, before, after):
        lines.extend(_argument(place, old, new))
    if not lines and before.key != after.key:
        lines.append("other objects are shared between the arguments")
    return lines


def _pairs(
    names: Parameters, before: Signature, after: Signature
) -> Iterator[tuple[str, Argument | None, Argument | None]]:
    for number, pair in enumerate(zip(before.arguments, after.arguments, strict=True)):
        yield (place_name((names[number],)), *pair)
    for name in {**before.keywords, **after.keywords}:
        yield name, before.keywords.get(name), after.keywords.get(name)
    for number, both in enumerate(zip(before.captured, after.captured, strict=False)):
        yield (f"captured[{number}]", *both)


def _argument(place: str, old: Argument | None, new: Argument | None) -> list[str]:
    if old is None or new is None:
        return [] if old is new else [f"{place}: {_kind(old)} before, {_kind(new)} now"]
    if old.key == new.key:
        return []
    if old.treedef != new.treedef:
        return [f"{place}: {old.treedef} before, {new.treedef} now"]
    lines = []
    for one, other in zip(old.parts, new.parts, strict=True):
        if isinstance(one, Part) and isinstance(other, Part):
            if one.key != other.key:
                for line in differences(one.graphdef, other.graphdef):
                    joint = "" if line.startswith((".", "[")) else ": "
                    lines.append(f"{place}{joint}{line}")
        elif type(one) is not type(other):
            lines.append(f"{place}: it shares objects with other arguments in one call only")
    return lines


def _kind(argument: Argument | None) -> str:
    if argument is None:
        return "plain values"
    part = argument.parts[0]
    return kind_of_root(part.graphdef) if isinstance(part, Part) else "an object"


def type_mismatches(names: Parameters, signature: Signature, avals: Pure, given: Pure) -> list[str]:
    """Return what differs between the types of values of two calls, a line for each place."""
    args, kwargs = built_arguments(signature, *avals)
    others, keywords = built_arguments(signature, *given)
    if kwargs.keys() != keywords.keys():
        return [f"keyword arguments: {list(kwargs)} before, {list(keywords)} now"]
    pairs = [
        (place_name((names[number],)), *both)
        for number, both in enumerate(zip(args, others, strict=True))
    ]
    pairs.extend([(name, kwargs[name], keywords[name]) for name in kwargs])
    trees: list[tuple[str, TreeDef, TreeDef]] = [
        (place, jax.tree.structure(old), jax.tree.structure(new)) for place, old, new in pairs
    ]
    changed = [f"{place}: {old} before, {new} now" for place, old, new in trees if old != new]
    if changed:
        return changed
    lines = []
    for place, before, after in pairs:
        entries = jax.tree_util.tree_leaves_with_path(before)
        for (path, aval), value in zip(entries, jax.tree.leaves(after), strict=True):
            known, found = _type(aval), _type(value)
            if known != found:
                lines.append(f"{place}{jax.tree_util.keystr(path)}: {known} before, {found} now")
    return lines


def _type(value: Value) -> str:
    try:
        aval = value if hasattr(value, "dtype") else jax.typeof(value)
    except TypeError:
        return type(value).__name__
    return f"{aval.dtype}{list(aval.shape)}"


class Gathers(Protocol):
    """How a jitted function takes its arguments apart."""

    _lift: Lift

    def _gather(self, args: Sequence[Tree], kwargs: Mapping[str, Tree]) -> Call: ...


class Program(NamedTuple):
    """What is known about a program beside what jax knows.

    Attributes:
        source: The jitted function.
        signature: What is static about the call for which it was made.
        statics: The static arguments.
        bound: Arguments, not static ones, that come before those of a call.
    """

    source: Gathers
    signature: Signature
    statics: Statics
    bound: tuple[Tree, ...] = ()

    @property
    def name(self) -> str:
        """The function and where it is defined."""
        return describe(self.source._lift.function)

    def pure(self, given: Tree) -> Pure:
        """Return what jax says about the arguments in the form of `Call`."""
        (captured, *args), kwargs = given
        return self.statics.within(args, {})[0], kwargs, captured

    def inputs(self, given: Tree) -> tuple[tuple[Tree, ...], dict[str, Tree]]:
        """Return what jax says about each value that goes in, as the user knows the arguments."""
        return self.statics.without(*built_arguments(self.signature, *self.pure(given)))

    def outputs(self, given: Tree, found: Tree) -> Tree:
        """Return what jax says about each value that comes out, as the user knows the result."""
        traced = TraceResult(*found)
        return built_result(self.signature, traced, *self.pure(given))

    def changes(self, found: Tree) -> tuple[tuple[Tree, ...], dict[str, Tree]]:
        """Return what jax says about each value that changes, as States in place of objects."""
        traced, signature = TraceResult(*found), self.signature
        args = changes(signature, traced, signature.arguments)
        named = changes(signature, traced, list(signature.keywords.values()))
        return self.statics.without(args, dict(zip(signature.keywords, named, strict=True)))

    def call(self, stage: Any, args: tuple[Tree, ...], kwargs: dict[str, Tree]) -> Tree:
        """Call a stage of jax with Modules.

        Raises:
            CompiledCallError: It was made for other arguments.
        """
        signature, names = self.signature, self.source._lift.parameters
        args = (*self.bound, *args)
        count = len(signature.arguments) - len(self.statics.args)
        if len(args) != count:
            line = f"{count} positional arguments before, {len(args)} now"
            raise CompiledCallError(self.name, [line])
        call = self.source._gather(*self.statics.within(args, kwargs))
        if call.signature.key != signature.key:
            changed = structural_mismatches(names, signature, call.signature)
            raise CompiledCallError(self.name, changed)
        dynamic, named = self.statics.without(call.args, call.kwargs)
        try:
            found = stage(call.captured, *dynamic, **named)
        except TypeError as error:
            avals = self.pure(stage.in_avals)
            changed = type_mismatches(names, signature, avals, (call.args, named, call.captured))
            if not changed:
                raise
            raise CompiledCallError(self.name, changed) from error
        return self.source._lift.finish(call, TraceResult(*found))


class Stage(Generic[R]):
    """What all stages have in common.

    Attributes that jax adds to its stages are found here too.
    """

    __slots__ = ("_program", "_stage")

    def __init__(self, program: Program, stage: Any) -> None:
        self._program = program
        self._stage = stage

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return getattr(self._stage, name)

    @property
    def args_info(self) -> Tree:
        """The arguments with ``jax.stages.ArgInfo`` in place of values: ``(args, kwargs)``."""
        return self._program.inputs(self._stage.args_info)

    @property
    def in_avals(self) -> Tree:
        """The arguments with abstract values: ``(args, kwargs)``."""
        return self._program.inputs(self._stage.in_avals)

    @property
    def in_tree(self) -> TreeDef:
        """The structure of ``(args, kwargs)``, without static arguments."""
        return jax.tree.structure(self.args_info)

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """The numbers of the leaves of `args_info` that are donated."""
        leaves = jax.tree.leaves(self.args_info)
        return tuple([number for number, info in enumerate(leaves) if info.donated])

    @property
    def out_info(self) -> Tree:
        """The result of the function with `jax.ShapeDtypeStruct` in place of values."""
        given = jax.tree.map(_struct_of, self._stage.in_avals)
        return self._program.outputs(given, self._stage.out_info)

    @property
    def out_tree(self) -> TreeDef:
        """The structure of the result of the function."""
        return jax.tree.structure(self.out_info)

    @property
    def updates_info(self) -> Tree:
        """What the function changes: ``(args, kwargs)`` with a State in place of each Module."""
        return self._program.changes(self._stage.out_info)

    def __repr__(self) -> str:
        return f"<nnx {type(self).__name__} of {self._program.name}>"


def _struct_of(aval: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)  # type: ignore[no-untyped-call]  # jax has no types here


class Traced(Stage[R]):
    """A function traced for one kind of arguments; what ``jit(f).trace(...)`` returns."""

    __slots__ = ()

    @property
    def jaxpr(self) -> Any:
        """The program as jax writes it down."""
        return self._stage.jaxpr

    def with_bound(self, bound: tuple[Tree, ...]) -> Traced[R]:
        """Return the same with arguments, not static ones, that are given before those of a call."""
        return Traced(self._program._replace(bound=bound), self._stage)

    @property
    def fun_name(self) -> str:
        """The name of the function."""
        return str(self._stage.fun_name)

    @property
    def out_avals(self) -> Tree:
        """The result of the function with abstract values."""
        return self._program.outputs(self._stage.in_avals, self._stage.out_avals)

    def lower(
        self, *, lowering_platforms: tuple[str, ...] | None = None, **options: Any
    ) -> Lowered[R]:
        """Translate the program to the input of the compiler.

        Args:
            lowering_platforms: For which platforms; by default that of the arguments.
            **options: What `jax.export.export` adds.

        Raises:
            ExportError: For `jax.export`, and the function closes over a Module or changes one.
        """
        if options:
            self._check_exported()
        lowered = self._stage.lower(lowering_platforms=lowering_platforms, **options)
        return Lowered(self._program, lowered)

    def _check_exported(self) -> None:
        """Check that the function takes and changes nothing but what goes through its signature."""
        own, stage = self._program, self._stage
        where = f"export of {own.name}"
        if len(jax.tree.leaves(stage.in_avals)) != len(jax.tree.leaves(self.in_avals)):
            fix = "pass it as an argument, or jax.export.export(jax.jit(f)) to have its arrays as constants"
            raise ExportError(where, "the function closes over a Module.", fix)
        if jax.tree.leaves(self.updates_info):
            problem = "the function changes a Module, which an exported program cannot."
            raise ExportError(
                where, problem, "nnx.export(f, model, mutable=...) returns what changed"
            )


class Lowered(Stage[R]):
    """A program ready to be compiled; what ``jit(f).lower(...)`` returns."""

    __slots__ = ()

    def compile(self, compiler_options: Mapping[str, Any] | None = None) -> Compiled[R]:
        """Compile the program.

        Args:
            compiler_options: Options of XLA.
        """
        return Compiled(self._program, self._stage.compile(compiler_options=compiler_options))

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """Return the program as text, in StableHLO or another dialect."""
        return str(self._stage.as_text(dialect, debug_info=debug_info))

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """Return the program as an object of the compiler."""
        return self._stage.compiler_ir(dialect)

    def cost_analysis(self) -> Any:
        """Return what the program is estimated to cost: flops, bytes and so on."""
        return self._stage.cost_analysis()


class Compiled(Stage[R]):
    """A compiled program; what ``jit(f).lower(...).compile()`` returns.

    It is called like the function, with arguments of the kind for which it was compiled, without
    the static ones.
    """

    __slots__ = ()

    @hides_frames
    def __call__(self, *args: Tree, **kwargs: Tree) -> R:
        """Run the program; Modules are updated.

        Raises:
            CompiledCallError: It was compiled for other arguments.
        """
        result: R = self._program.call(self._stage, args, kwargs)
        return result

    def call(self, *args: Tree, **kwargs: Tree) -> R:
        """Do the same as calling it."""
        return self(*args, **kwargs)

    def as_text(self) -> str | None:
        """Return the program as text."""
        text: str | None = self._stage.as_text()
        return text

    def cost_analysis(self) -> Any:
        """Return what the program is estimated to cost: flops, bytes and so on."""
        return self._stage.cost_analysis()

    def memory_analysis(self) -> Any:
        """Return how much memory the program needs."""
        return self._stage.memory_analysis()

    def runtime_executable(self) -> Any:
        """Return the object that runs the program."""
        return self._stage.runtime_executable()

    @property
    def input_shardings(self) -> Tree:
        """The arguments with shardings in place of values: ``(args, kwargs)``."""
        return self._program.inputs(self._stage.input_shardings)

    @property
    def input_formats(self) -> Tree:
        """The arguments with formats in place of values: ``(args, kwargs)``."""
        return self._program.inputs(self._stage.input_formats)

    @property
    def input_layouts(self) -> Tree:
        """The older name of `input_formats`."""
        return self.input_formats

    @property
    def output_shardings(self) -> Outputs:
        """The shardings of the result, and of what changes as in `updates_info`."""
        return self._outputs(self._stage.input_shardings, self._stage.output_shardings)

    @property
    def output_formats(self) -> Outputs:
        """The formats of the result, and of what changes as in `updates_info`."""
        return self._outputs(self._stage.input_formats, self._stage.output_formats)

    def _outputs(self, given: Tree, found: Tree) -> Outputs:
        return Outputs(self._program.outputs(given, found), self._program.changes(found))


class Outputs(NamedTuple):
    """What a program puts out.

    Attributes:
        result: The result of the function.
        updates: What it changes: ``(args, kwargs)`` with a State in place of each Module.
    """

    result: Tree
    updates: Any


class HasStages(Generic[P, R]):
    """What can be traced, lowered and compiled ahead of a call.

    Arguments may be abstract in all of these: `jax.ShapeDtypeStruct`, or Modules that hold them.
    """

    @typed_as(lambda: overloads.trace)
    @hides_frames
    def trace(self: HasStages[P, R], *args: P.args, **kwargs: P.kwargs) -> Traced[R]:
        """Trace the function for arguments, which stay as they are.

        Args:
            *args: Arguments, or abstract ones.
            **kwargs: Keyword arguments.
        """
        return self._traced(args, kwargs)

    @typed_as(lambda: overloads.lower)
    @hides_frames
    def lower(self: HasStages[P, R], *args: P.args, **kwargs: P.kwargs) -> Lowered[R]:
        """Trace the function for arguments and translate it to the input of the compiler."""
        return self._traced(args, kwargs).lower()

    @typed_as(lambda: overloads.compile)
    @hides_frames
    def compile(self: HasStages[P, R], *args: P.args, **kwargs: P.kwargs) -> Compiled[R]:
        """Compile the function for arguments, which stay as they are."""
        return self._traced(args, kwargs).lower().compile()

    @typed_as(lambda: overloads.eval_shape)
    @hides_frames
    def eval_shape(self: HasStages[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Return what the function returns with shapes in place of values."""
        return self._shapes(args, kwargs)

    def _traced(self, args: tuple[Tree, ...], kwargs: Mapping[str, Tree]) -> Traced[R]:
        """Trace the function."""
        raise NotImplementedError

    def _shapes(self, args: tuple[Tree, ...], kwargs: Mapping[str, Tree]) -> R:
        """Return the result with shapes."""
        raise NotImplementedError


class JitMethod(functools.partial[R], HasStages[P, R], Generic[P, R]):
    """A jitted function whose first arguments are bound, such as a method of one object."""

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
            """Call the function with the bound arguments and these."""
            ...

    def _traced(self, args: tuple[Tree, ...], kwargs: Mapping[str, Tree]) -> Traced[R]:
        """Trace the function; what is compiled of it takes the arguments that are not bound."""
        jitted: Any = self.func
        traced: Traced[R] = jitted.trace(*self.args, *args, **kwargs)
        bound = [value for n, value in enumerate(self.args) if n not in jitted._statics]
        return traced.with_bound(tuple(bound))

    def _shapes(self, args: tuple[Tree, ...], kwargs: Mapping[str, Tree]) -> R:
        jitted: Any = self.func
        found: R = jitted.eval_shape(*self.args, *args, **kwargs)
        return found
