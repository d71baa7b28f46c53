"""The stages of a jitted function: traced, lowered, compiled.

They wrap the stages of jax and show them as the user knows his function: with Modules that hold
shapes, shardings and so on in the place of values.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    NamedTuple,
    ParamSpec,
    Self,
    TypeVar,
    overload,
)

import jax

from typed_nnx._core.bounded import Bounded
from typed_nnx._core.tracebacks import hides_frames
from typed_nnx._transforms.eval_shape import abstract_result
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.interned import Interned
from typed_nnx._transforms.jit_program import Program
from typed_nnx._transforms.lift import Lift
from typed_nnx._transforms.lifted import Lifted, Unseen
from typed_nnx._transforms.outcomes import Flat, Outcome, flattened
from typed_nnx._transforms.signature import Signature

A = TypeVar("A")
P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
S = TypeVar("S")


class Stage(Generic[R]):
    """What all stages have in common.

    Attributes that jax adds to its stages are found here too.
    """

    __slots__ = ("_program", "_stage")

    def __init__(self, program: Program, stage: Any) -> None:
        self._program = program
        self._stage = stage

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._stage, name)

    @property
    def args_info(self) -> Any:
        """The arguments with ``jax.stages.ArgInfo`` in the place of values: ``(args, kwargs)``."""
        return self._program.inputs(self._stage.args_info)

    @property
    def in_avals(self) -> Any:
        """The arguments with abstract values: ``(args, kwargs)``."""
        return self._program.inputs(self._stage.in_avals)

    @property
    def in_tree(self) -> Any:
        """The structure of ``(args, kwargs)``, without static arguments."""
        return jax.tree.structure(self.args_info)

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """The numbers of the leaves of `args_info` that are donated."""
        leaves = jax.tree.leaves(self.args_info)
        return tuple([number for number, info in enumerate(leaves) if info.donated])

    @property
    def out_info(self) -> Any:
        """The result of the function with `jax.ShapeDtypeStruct` in the place of values."""
        given = jax.tree.map(_struct_of, self._stage.in_avals)
        return self._program.outputs(given, self._stage.out_info)

    @property
    def out_tree(self) -> Any:
        """The structure of the result of the function."""
        return jax.tree.structure(self.out_info)

    @property
    def updates_info(self) -> Any:
        """What the function changes: ``(args, kwargs)`` with a State in the place of each Module."""
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

    def with_bound(self, bound: tuple[Any, ...]) -> Traced[R]:
        """Return the same with arguments, not static ones, that are given before those of a call."""
        return Traced(self._program._replace(bound=bound), self._stage)

    @property
    def fun_name(self) -> str:
        """The name of the function."""
        return str(self._stage.fun_name)

    @property
    def out_avals(self) -> Any:
        """The result of the function with abstract values."""
        return self._program.outputs(self._stage.in_avals, self._stage.out_avals)

    def lower(self, *, lowering_platforms: tuple[str, ...] | None = None) -> Lowered[R]:
        """Translate the program to the input of the compiler.

        Args:
            lowering_platforms: For which platforms; by default that of the arguments.
        """
        lowered = self._stage.lower(lowering_platforms=lowering_platforms)
        return Lowered(self._program, lowered)


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
    def __call__(self, *args: Any, **kwargs: Any) -> R:
        """Run the program; Modules are updated.

        Raises:
            CompiledCallError: It was compiled for other arguments.
        """
        return self._program.call(self._stage, args, kwargs)  # type: ignore[no-any-return]  # what the function returned

    def call(self, *args: Any, **kwargs: Any) -> R:
        """Do the same as calling it."""
        return self(*args, **kwargs)

    def as_text(self) -> str | None:
        """Return the program as text."""
        return self._stage.as_text()  # type: ignore[no-any-return]  # jax says so

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
    def input_shardings(self) -> Any:
        """The arguments with shardings in the place of values: ``(args, kwargs)``."""
        return self._program.inputs(self._stage.input_shardings)

    @property
    def input_formats(self) -> Any:
        """The arguments with formats in the place of values: ``(args, kwargs)``."""
        return self._program.inputs(self._stage.input_formats)

    @property
    def input_layouts(self) -> Any:
        """The older name of `input_formats`."""
        return self.input_formats

    @property
    def output_shardings(self) -> Any:
        """The shardings of the result, and of what changes as in `updates_info`."""
        return self._outputs(self._stage.input_shardings, self._stage.output_shardings)

    @property
    def output_formats(self) -> Any:
        """The formats of the result, and of what changes as in `updates_info`."""
        return self._outputs(self._stage.input_formats, self._stage.output_formats)

    def _outputs(self, given: Any, found: Any) -> Any:
        return Outputs(self._program.outputs(given, found), self._program.changes(found))


class Outputs(NamedTuple):
    """What a program puts out.

    Attributes:
        result: The result of the function.
        updates: What it changes: ``(args, kwargs)`` with a State in the place of each Module.
    """

    result: Any
    updates: Any


class HasStages(Generic[P, R]):
    """What can be traced, lowered and compiled ahead of a call.

    Arguments may be abstract in all of these: `jax.ShapeDtypeStruct`, or Modules that hold them.
    """

    @hides_frames
    def trace(self, *args: P.args, **kwargs: P.kwargs) -> Traced[R]:
        """Trace the function for arguments, which stay as they are.

        Args:
            *args: Arguments, or abstract ones.
            **kwargs: Keyword arguments.
        """
        return self._traced(args, kwargs)

    @hides_frames
    def lower(self, *args: P.args, **kwargs: P.kwargs) -> Lowered[R]:
        """Trace the function for arguments and translate it to the input of the compiler."""
        return self._traced(args, kwargs).lower()

    @hides_frames
    def compile(self, *args: P.args, **kwargs: P.kwargs) -> Compiled[R]:
        """Compile the function for arguments, which stay as they are."""
        return self._traced(args, kwargs).lower().compile()

    @hides_frames
    def eval_shape(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return what the function returns with shapes in the place of values."""
        return self._shapes(args, kwargs)

    def _traced(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Traced[R]:
        """Trace the function."""
        raise NotImplementedError

    def _shapes(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> R:
        """Return the result with shapes."""
        raise NotImplementedError


class Staged(Lifted[P, R], HasStages[P, R]):
    """The part of a jitted function that makes stages of it."""

    _options: Any
    _jitted: Any
    _signatures: Interned
    _with_shardings: Bounded[Signature, Any]

    def _gather(self, args: Any, kwargs: Any) -> Call:
        """Take one call apart."""
        raise NotImplementedError

    def _intern(self, call: Call) -> Signature:
        """Return the one signature that is equal to that of a call."""
        return self._signatures.of(call.signature)

    def _jitted_for(self, signature: Signature, call: Call) -> Any:
        """Return what jax compiles for a kind of call."""
        raise NotImplementedError

    def _traced(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Traced[R]:
        options = self._options
        call = self._gather(args, kwargs)
        signature = self._intern(call)
        jitted = self._jitted_for(signature, call)
        stage = jitted.trace(signature, call.captured, *call.args, **call.kwargs)
        statics = {n: value for n, value in enumerate(args) if n in options.static_argnums}
        names = {n: value for n, value in kwargs.items() if n in options.static_argnames}
        return Traced(Program(self, signature, statics, names), stage)

    def _shapes(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> R:
        call = self._gather(args, kwargs)
        signature = self._intern(call)
        jitted = self._jitted_for(signature, call)
        found = jitted.eval_shape(signature, call.captured, *call.args, **call.kwargs)
        flat = flattened(signature, found) if isinstance(found, Outcome) else Flat(*found)
        return abstract_result(call, flat)  # type: ignore[no-any-return]  # what the function returns

    def with_lift(self, lift: Lift) -> Self:
        """Return the same transform with another way into the user's function."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._lift = lift
        made._prepare()
        return made

    def clear_cache(self) -> None:
        """Forget what was traced and compiled."""
        self._prepare()

    def _cache_size(self) -> int:
        """Return how many programs were compiled."""
        jitted = [self._jitted, *self._with_shardings.all_values()]
        return sum([int(one._cache_size()) for one in jitted])

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Self: ...
    @overload
    def __get__(
        self: Lifted[[Unseen], S], instance: object, owner: Any = None
    ) -> JitMethod[..., S]: ...
    @overload
    def __get__(
        self: Lifted[Concatenate[A, Q], S], instance: A, owner: Any = None
    ) -> JitMethod[Q, S]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> JitMethod[..., R]: ...  # pyright: ignore[reportIncompatibleMethodOverride]  # a JitMethod is a Callable
    def __get__(self, instance: Any, owner: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  # a JitMethod is a Callable
        return self if instance is None else JitMethod(self, instance)


class JitMethod(functools.partial[R], HasStages[P, R], Generic[P, R]):
    """A jitted method of one object: what ``obj.method`` is."""

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
            """Call the method."""
            ...

    @property
    def _staged(self) -> Staged[..., R]:
        return self.func  # type: ignore[return-value]  # made by `Staged.__get__` only

    def _traced(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Traced[R]:
        found: Traced[R] = self._staged.trace(*self.args, *args, **kwargs)
        return found.with_bound(self.args)

    def _shapes(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> R:
        found: R = self._staged.eval_shape(*self.args, *args, **kwargs)
        return found
