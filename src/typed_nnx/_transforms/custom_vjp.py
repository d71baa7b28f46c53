"""`custom_vjp`: functions of Modules, Variables and arrays with a derivative of their own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, Self, overload

import jax
import numpy as np
from jax.custom_derivatives import CustomVJPPrimal, SymbolicZero
from jax.interpreters import ad

from typed_nnx._core.jax_runtime import context, hides_frames, is_array_ref
from typed_nnx._core.nodes import TreeDef
from typed_nnx._core.settings import MISSING, Missing
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.rebuild import rebuild
from typed_nnx._graph.traversal import Traversal
from typed_nnx._transforms.engine.argnums import Chosen, DiffArgs, by_position
from typed_nnx._transforms.engine.call import is_object, kind_of_result, raw_values
from typed_nnx._transforms.engine.closures import Captures, describe
from typed_nnx._transforms.engine.diff import (
    Given,
    Results,
    divide,
    only_wanted,
    prefix_of,
    state_builder,
    unite,
)
from typed_nnx._transforms.engine.explain import names_of, shown
from typed_nnx._transforms.engine.lift import Lift, Lifted, P, R
from typed_nnx._transforms.engine.prefixes import DiffState, Function, Tree, Value
from typed_nnx._transforms.engine.signature import (
    Alias,
    Argument,
    Part,
    Signature,
    TraceResult,
    leaf_of,
    leaf_positions,
)
from typed_nnx._transforms.engine.trace import Trace, is_unchanged
from typed_nnx.errors import MissingRuleError, ResultError


class InputCotangents:
    """Puts the cotangents of the values of arguments at the end of a call into States."""

    __slots__ = ("_by_item", "_cotangent", "_numbers")

    def __init__(self, signature: Signature, cotangent: TraceResult) -> None:
        self._cotangent = cotangent
        self._numbers = {part.offset: number for number, part in enumerate(signature.parts)}
        self._by_item: dict[int, Value] = {}  # by number among the items of all parts
        for number, part in enumerate(signature.parts):
            positions = part.leaf_positions()
            for leaf, value in cotangent.changes(number, part):
                self._by_item[positions[leaf] + part.offset] = value

    def as_states(self, arguments: Iterable[Argument | None]) -> tuple[Tree, ...]:
        """Return States in the form of arguments; None for an argument without objects."""
        return tuple([None if each is None else each.build(self._state) for each in arguments])

    def as_objects(
        self, arguments: Iterable[Argument | None], changed: Set[tuple[int, int]]
    ) -> tuple[Tree, ...]:
        """Return objects in the form of arguments, with None for all but what changed: (part, leaf)."""

        def build(part: Part | Alias) -> Tree:
            if isinstance(part, Alias):
                return None
            number, items = self._numbers[part.offset], part.graphdef.leaf_items
            leaves: list[Value] = [None] * len(items)
            for leaf, value in self._cotangent.changes(number, part):
                if (number, leaf) in changed:
                    leaves[leaf] = leaf_of(items[leaf], value)
            return rebuild(part.graphdef, leaves, recreate_variables=False)

        return tuple([None if each is None else each.build(build) for each in arguments])

    def _state(self, part: Part | Alias) -> Tree:
        if isinstance(part, Alias):  # it belongs to the argument that was first
            return State({})
        number, effects = self._numbers[part.offset], self._cotangent.effects
        values, structure = self._cotangent.values_of(number, part), part.graphdef
        grown = effects.structure_of(number)
        if grown is not None:
            structure, new = grown.graphdef, values[len(effects.changed[number]) :]
            outer = structure.outer or ()
            values = [
                new[source]
                if isinstance(source, int)
                else self._by_item.get(outer[position] or 0, MISSING)
                for position, source in zip(leaf_positions(structure), grown.sources, strict=True)
            ]
        chosen = [value is not MISSING for value in values]
        return state_builder(structure, chosen)([v for v in values if v is not MISSING])


class _Number:
    """Stands in residuals for a number, which would be static in a graph."""


def packed(residuals: Tree) -> tuple[list[Value], list[Value], GraphDef]:
    """Return the values of residuals as jax takes them, their numbers, and their structure."""
    treedef: TreeDef
    leaves, treedef = jax.tree.flatten(residuals, is_leaf=is_object)
    numbers = [leaf for leaf in leaves if isinstance(leaf, _NUMBERS)]
    others = [_Number if isinstance(leaf, _NUMBERS) else leaf for leaf in leaves]
    traversal: Traversal = Traversal().visit([treedef.unflatten(others)])
    values = [value[...] if is_array_ref(value) else value for value in raw_values(traversal)]
    return values, numbers, traversal.graphdef


def unpacked(values: list[Value], numbers: list[Value], structure: GraphDef) -> Tree:
    """Undo `packed`, with new objects."""
    (residuals,), following = rebuild(structure, values), iter(numbers)
    return jax.tree.map(
        lambda leaf: next(following) if leaf is _Number else leaf, residuals, is_leaf=is_object
    )


_NUMBERS = (np.generic, bool, int, float, complex)


_FUNCTION, _FWD, _BWD = 0, 1, 2

_UPDATES = "updates_g"
"""The parameter of ``bwd`` for the cotangents of changed arguments, where structures are fixed."""


class RuleCall:
    """One call of a function with a rule.

    Arguments are divided into what the rule is for (``chosen``) and the rest: arguments in
    nondiff_argnums, keyword arguments, and what the three functions close over. Arrays of the rest
    go through jax, since they may belong to a trace; everything else is a constant.
    """

    def __init__(
        self,
        lift: Lift,
        nondiff: Chosen,
        symbolic_zeros: bool,
        args: Sequence[Value],
        kwargs: Mapping[str, Tree],
    ) -> None:
        self._lift = lift
        self._symbolic_zeros = symbolic_zeros
        numbers = nondiff.numbers(lift.function[_FUNCTION], len(args))
        entries = dict(zip(numbers, nondiff.entries, strict=True))
        self._nondiff = sorted(n for n in numbers if not isinstance(entries[n], DiffState))
        self._diff = [number for number in range(len(args)) if number not in self._nondiff]
        prefixes = [
            prefix_of(entries[n], True) if n in entries and n in self._diff else n in self._diff
            for n in range(len(args))
        ]
        # All values come back, so that the function and `fwd` return the same form to jax.
        kept = [prefix is not False for prefix in prefixes]
        self._call = lift.gather(
            args, kwargs, prefixes, capture_prefix=False, keyword_prefix=False, kept=kept
        )
        arguments = self._call.signature.arguments
        self._bwd_needs_objects = bool(
            any(arguments[number] is not None for number in self._nondiff)
            or Captures(lift.function[_BWD]).objects
        )
        self._changed: set[tuple[int, int]] = set()
        self._chosen, rest = self._arranged(self._call.args, self._call.kwargs, self._call.captured)
        self._rest, self._rest_tree = jax.tree.flatten(rest)
        self._traced = [n for n, leaf in enumerate(self._rest) if isinstance(leaf, jax.Array)]
        self._arrays = [self._rest[number] for number in self._traced]

    def __call__(self) -> Tree:
        """Run the function and return its result."""
        functions = self._lift.function
        function = jax.custom_vjp(shown(self._function, functions[_FUNCTION], self._names))
        fwd = shown(self._fwd, functions[_FWD], self._names)
        function.defvjp(fwd, shown(self._bwd, functions[_BWD]), symbolic_zeros=True)
        found: TraceResult = function(self._chosen, self._arrays)
        return self._lift.finish(self._call, self._only_changed(found))

    # -- arguments --------------------------------------------------------------------------------

    def _arranged(
        self, args: Sequence[Tree], kwargs: Mapping[str, Tree], captured: Sequence[Tree]
    ) -> tuple[Tree, Tree]:
        """Return what the rule is for, and the rest."""
        chosen, (others, nondiff) = divide(self._call.signature, self._diff, args)
        return chosen, (others, nondiff, kwargs, captured)

    def _names(self, chosen: Tree, arrays: Tree) -> Tree:
        """Return names in place of what jax gets."""
        call = self._call
        values = call.args, call.kwargs, call.captured
        own, rest = self._arranged(*names_of(self._lift.parameters, call.signature, *values))
        leaves = jax.tree.leaves(rest)
        return own, [leaves[number] for number in self._traced]

    def _united(self, chosen: Tree, arrays: Tree) -> tuple[list[Value], Any, Tree]:
        """Return the arguments, keyword arguments and captured objects as plain values."""
        others, nondiff, kwargs, captured = self._restored(arrays)
        return unite(self._call.signature, self._diff, chosen, (others, nondiff)), kwargs, captured

    def _restored(self, arrays: Tree) -> Tree:
        """Return what the rule is not for, given the arrays in it."""
        leaves = list(self._rest)
        for number, value in zip(self._traced, arrays, strict=True):
            leaves[number] = value
        return jax.tree.unflatten(self._rest_tree, leaves)

    # -- what jax calls ---------------------------------------------------------------------------

    def _function(self, chosen: Tree, arrays: Tree) -> TraceResult:
        trace = self._lift.trace(self._call.signature, *self._united(chosen, arrays))
        found = trace.finish(trace.run(_FUNCTION))
        self._note(trace, found)
        return found

    def _fwd(self, chosen: Tree, arrays: Tree) -> tuple[TraceResult, Tree]:
        self._check_derivatives([leaf.perturbed for leaf in arrays])
        arrays = [leaf.value for leaf in arrays]
        values = jax.tree.map(_plain, chosen)
        shown = chosen if self._symbolic_zeros else values
        trace = self._lift.trace(self._call.signature, *self._united(shown, arrays))
        pair = trace.run(_FWD)
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise self._wrong_result(_FWD, "a pair (result, residuals)", pair)
        out, residuals = pair
        found = trace.finish(out)
        self._note(trace, found)
        needed: Tree = None  # of the arguments, for `bwd`
        if self._bwd_needs_objects:
            needed = values, arrays
        elif self._nondiff:
            needed = None, arrays
        return jax.tree.map(_plain, found), (jax.tree.map(_plain, packed(residuals)), needed)

    def _bwd(self, kept: Tree, cotangent: TraceResult) -> tuple[Tree, None]:
        residuals, needed = kept
        if not self._symbolic_zeros:
            cotangent = jax.tree.map(_instantiated, cotangent)
        results = Results(cotangent.effects)
        arguments = self._call.signature.arguments
        by_inputs = InputCotangents(self._call.signature, cotangent)
        given: Tree
        named: dict[str, Tree] = {}
        if self._lift.modes[1]:
            states = by_inputs.as_states([arguments[number] for number in self._diff])
            given = (states, results.as_states(cotangent.result))
        else:
            given = results.as_objects(cotangent.result)
            if _takes(self._lift.function[_BWD], _UPDATES):
                named[_UPDATES] = by_inputs.as_objects(arguments, self._changed)
        found = self._run_bwd(needed, (unpacked(*residuals), given), named)
        if not isinstance(found, tuple | list) or len(found) != len(self._diff):
            expected = f"a tuple of {len(self._diff)}, one for each differentiated argument"
            raise self._wrong_result(_BWD, expected, found)
        return self._cotangents(found), None

    def _wrong_result(self, which: int, expected: str, found: object) -> ResultError:
        rule = f"{'fwd' if which == _FWD else 'bwd'} ({describe(self._lift.function[which])})"
        return ResultError(
            "custom_vjp",
            f"{rule} should return {expected}; it returned {kind_of_result(found)}.",
            "fwd ends with `return result, residuals`, bwd with a tuple of one cotangent for each "
            "argument that is differentiated, None for zero",
        )

    def _run_bwd(self, needed: Tree, last: tuple[Tree, Tree], named: dict[str, Tree]) -> Tree:
        """Run `bwd` on arguments in nondiff_argnums, residuals and cotangents."""
        bwd = self._lift.function[_BWD]
        if needed is None:
            return bwd(*last, **named)
        values, arrays = needed
        if not self._bwd_needs_objects:
            _, args, _, _ = self._restored(arrays)
            return bwd(*[args[number] for number in self._nondiff], *last, **named)
        trace = self._lift.trace(self._call.signature, *self._united(values, arrays))
        trace.args = [*[trace.args[number] for number in self._nondiff], *last]
        trace.kwargs = named
        return trace.run(_BWD)

    def _cotangents(self, found: Sequence[Value]) -> list[Value]:
        """Return what `bwd` returned as the values that jax expects."""
        given, name = Given("custom_vjp", zero=True), self._lift.parameters.describe
        arguments = self._call.signature.arguments
        return [
            given.argument(arguments[number], own, f"what bwd returned for argument {name(number)}")
            for number, own in zip(self._diff, found, strict=True)
        ]

    def _check_derivatives(self, perturbed: Sequence[bool]) -> None:
        """Raise if the function is differentiated by something that the rule is not for.

        Raises:
            MissingRuleError: It names what.
        """
        if not any(perturbed):
            return
        tree = jax.tree.unflatten(self._rest_tree, range(len(self._rest)))
        paths = [keys for keys, _ in jax.tree_util.tree_leaves_with_path(tree)]
        first = paths[self._traced[list(perturbed).index(True)]]
        name = self._lift.parameters.describe
        kind, number = first[0].idx, getattr(first[1], "idx", 0)
        places = (
            "values that a DiffState leaves out",
            f"argument {name(number)}, which is in nondiff_argnums" if kind == 1 else "",
            "a keyword argument that has no position",
            "what it closes over",
        )
        raise MissingRuleError(
            "custom_vjp",
            f"{describe(self._lift.function)} was differentiated by {places[kind]}, for which its "
            "bwd returns no cotangent.",
            "pass the value as an argument that is not in nondiff_argnums, or stop its gradient "
            "with jax.lax.stop_gradient",
        )

    # -- changes ----------------------------------------------------------------------------------

    def _note(self, trace: Trace, found: TraceResult) -> None:
        """Remember which values a run changed: all are returned to jax."""
        for number, part in enumerate(self._call.signature.parts):
            for leaf, value in found.changes(number, part) if part.kept else ():
                if not is_unchanged(trace.given[number][leaf], value):
                    self._changed.add((number, leaf))

    def _only_changed(self, found: TraceResult) -> TraceResult:
        """Return the same with the old values where nothing is to be written.

        In the default mode later uses of an argument go through the rule, changed or not, so that
        it must be written. Elsewhere the rule gets no cotangents of arguments, and so later uses
        of what was not changed must go past it.
        """

        def is_wanted(number: int, leaf: int, value: Value) -> bool:
            if (number, leaf) in self._changed or not self._lift.modes[1]:
                return (number, leaf) in self._changed
            variable = self._call.inputs[number].graph.leaves[leaf]
            # One of another trace cannot be written.
            return isinstance(variable, Variable) and variable._nnx_trace == context.trace

        return only_wanted(self._call, found, is_wanted)


def _takes(function: Function, name: str) -> bool:
    """Whether a function has a parameter, or any keyword arguments."""
    parameters = inspect.signature(function).parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _plain(leaf: Value) -> Tree:
    return leaf.value if isinstance(leaf, CustomVJPPrimal) else leaf


def _instantiated(leaf: Value) -> Tree:
    return ad.zeros_like_aval(leaf.aval) if isinstance(leaf, SymbolicZero) else leaf


class CustomVjp(Lifted[P, R]):
    """A function with a rule for its derivative; what `custom_vjp` returns."""

    transform = "custom_vjp"
    _options: DiffArgs

    def _check_options(self) -> None:
        structural = self._lift.modes[1]
        self._nondiff = Chosen.of(self.transform, "nondiff_argnums", self._options, structural)
        # The function and its rule together: what one closes over, the others may close over too.
        self._lift = self._lift.of((self._lift.function,))
        self._symbolic_zeros = False

    def defvjp(
        self,
        fwd: Callable[..., tuple[R, Tree]],
        bwd: Callable[..., tuple[Tree, ...] | list[Value]],
        symbolic_zeros: bool = False,
    ) -> None:
        """Give the function its rule.

        Args:
            fwd: A function of the same arguments that returns the result and what `bwd` needs, the
                residuals: any tree of arrays and Modules.
            bwd: A function of the arguments in nondiff_argnums, the residuals and the cotangents.
                By default these are a pair: for each other argument the cotangents of its values
                at the end of the call, as States, and those of the result. With
                ``graph_updates=False`` they are those of the result alone, with Modules; those of
                changed Variables are given to a parameter called ``updates_g``, as a tuple with a
                Module or Variable for each argument that has None for what stayed. It returns
                a tuple with a cotangent for each other argument: a State (or Module) of all
                Variables, an array, or None for zero.
            symbolic_zeros: Show which values are differentiated and which cotangents are zero, as
                ``jax.custom_vjp`` does.
        """
        self._lift = self._lift.of((self._lift.function[0], fwd, bwd))
        self._symbolic_zeros = symbolic_zeros

    def nnx_with_function(self, function: Function) -> Self:
        """Return the same for another function, with its rule."""
        made = super().nnx_with_function(function)
        made.__wrapped__ = function[0]
        return made

    @hides_frames
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        functions = self._lift.function
        if len(functions) == 1:
            raise MissingRuleError(
                "custom_vjp",
                f"No VJP defined for {describe(functions)}: it was called before defvjp.",
                "function.defvjp(fwd, bwd), with fwd(*args) -> (result, residuals) and "
                "bwd(residuals, cotangent) -> a cotangent for each argument",
            )
        given, named = by_position(functions[0], args, kwargs, defaults=True)
        result: R = RuleCall(self._lift, self._nondiff, self._symbolic_zeros, given, named)()
        return result


@overload
def custom_vjp(
    fun: Callable[P, R],
    *,
    nondiff_argnums: DiffArgs = (),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> CustomVjp[P, R]: ...
@overload
def custom_vjp(
    *, nondiff_argnums: DiffArgs = (), graph: bool | None = None, graph_updates: bool | None = None
) -> Callable[[Callable[P, R]], CustomVjp[P, R]]: ...
@hides_frames
def custom_vjp(
    fun: Function | Missing = MISSING,
    *,
    nondiff_argnums: DiffArgs = (),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Tree:
    """Give a function a custom derivative, as `jax.custom_vjp` does for arrays.

    Changes to Modules by the function, or by ``fwd`` when it is differentiated, are visible
    outside.

    >>> import jax.numpy as jnp
    >>> @custom_vjp
    ... def double(weight): return weight[...] * 2
    >>> def fwd(weight): return double(weight), None
    >>> def bwd(residuals, cotangents): return (Param(cotangents[1] * 100),)
    >>> double.defvjp(fwd, bwd)
    >>> float(grad(double)(Param(jnp.array(3.0)))[...])
    100.0

    Args:
        fun: The function. Without it a decorator is returned.
        nondiff_argnums: Positions of arguments that the rule returns no cotangents for; or
            `DiffState`, to choose the Variables of an argument that it does.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        ArgumentError: nondiff_argnums has something that is no position, or one twice.
        PrefixError: nondiff_argnums has a DiffState, with graph_updates=False.

    Returns:
        The function, with a method ``defvjp`` that must be called before it is.
    """
    return CustomVjp.of(fun, graph, graph_updates, nondiff_argnums)
