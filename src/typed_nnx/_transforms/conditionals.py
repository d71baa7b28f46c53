"""`cond` and `switch` with Modules among the operands and in what branches close over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar, TypeVarTuple, overload

import jax
from jax.typing import ArrayLike

from typed_nnx._core.jax_runtime import hides_frames
from typed_nnx._core.nodes import TreeDef
from typed_nnx._core.paths import attribute_path
from typed_nnx._core.variable import AnyVariable, Variable
from typed_nnx._graph.split import clone
from typed_nnx._graph.traversal import Traversal
from typed_nnx._transforms.engine.call import Word, is_object, place_name, result_name
from typed_nnx._transforms.engine.closures import Parameters, describe
from typed_nnx._transforms.engine.explain import between, kind_of_root, names_of, shown
from typed_nnx._transforms.engine.lift import Lift
from typed_nnx._transforms.engine.prefixes import Function, Tree, Value
from typed_nnx._transforms.engine.signature import Part, Signature, Structure, TraceResult
from typed_nnx._transforms.engine.trace import Trace
from typed_nnx._transforms.engine.trace_cache import CachedTrace, StartTrace
from typed_nnx.errors import BranchMismatchError

Names: TypeAlias = tuple[str, str]
"""What to call the branches."""


def branch_differences(
    parts: Sequence[Part], one: TraceResult, other: TraceResult, names: Names
) -> list[str]:
    """Return what differs between what two branches leave, a line for each place."""
    lines: list[str] = []
    for number, part in enumerate(parts):
        left, right = [flat.effects.structure_of(number) for flat in (one, other)]
        if left != right:
            before = part.graphdef if left is None else left.graphdef
            after = part.graphdef if right is None else right.graphdef
            lines.extend(between(before, after, place_name(part.path), *names))
    return lines or [*_types(parts, one, other, names), *_results(one, other, names)]


def _types(
    parts: Sequence[Part], one: TraceResult, other: TraceResult, names: Names
) -> Iterator[str]:
    for number, part in enumerate(parts):
        lefts, rights = one.updates[number], other.updates[number]
        changed = one.effects.changed[number]
        for leaf, left, right in zip(changed, lefts, rights, strict=False):
            path = (*part.path, *part.graphdef.layout.paths[leaf])
            yield from _values(place_name(path), left, right, names)
        structure = one.effects.structure_of(number)
        if structure is not None:
            new = lefts[len(changed) :], rights[len(changed) :]
            yield from _in_object(place_name(part.path), structure, *new, names)


def _results(one: TraceResult, other: TraceResult, names: Names) -> Iterator[str]:
    lefts, rights = one.entries(), other.entries()
    if one.treedef != other.treedef:
        yield f"result: {_shown(one)} after {names[0]}, {_shown(other)} after {names[1]}"
        return
    for (path, structure, left), (_, structure_too, right) in zip(lefts, rights, strict=True):
        where = result_name(path)
        if structure is None and structure_too is None:
            yield from _values(where, left, right, names)
        elif structure is None or structure_too is None:
            kinds = [_kind(structure), _kind(structure_too)]
            yield f"{where} is {kinds[0]} after {names[0]}, {kinds[1]} after {names[1]}"
        elif structure != structure_too:
            graphdefs = structure.graphdef, structure_too.graphdef
            yield from between(*graphdefs, where, *names)
        else:
            yield from _in_object(where, structure, left, right, names)


def _in_object(
    where: str, structure: Structure, lefts: Sequence[Value], rights: Sequence[Value], names: Names
) -> Iterator[str]:
    """Yield the new values in an object that differ in type."""
    for path, number in structure.new_leaves():
        yield from _values(f"{where}{attribute_path(path)}", lefts[number], rights[number], names)


def _shown(flat: TraceResult) -> str:
    """Return a result with the types of its leaves in their places."""
    kinds = [
        Word(_named(leaf) if structure is None else _kind(structure))
        for _, structure, leaf in flat.entries()
    ]
    return repr(flat.treedef.unflatten(kinds))


def _kind(structure: Structure | None) -> str:
    return "an array" if structure is None else kind_of_root(structure.graphdef)


def _values(where: str, left: Value, right: Value, names: Names) -> Iterator[str]:
    treedef: TreeDef
    lefts, treedef = jax.tree.flatten(left)
    rights, other = jax.tree.flatten(right)
    if treedef != other:
        yield f"{where} is {left!r} after {names[0]}, {right!r} after {names[1]}"
        return
    for one, two in zip(map(type_of, lefts), map(type_of, rights), strict=True):
        if one is None or two is None:
            continue
        if (one.shape, one.dtype) != (two.shape, two.dtype):
            yield f"{where} is {one.str_short()} after {names[0]}, {two.str_short()} after {names[1]}"


def _named(value: Value) -> str:
    kind = type_of(value)
    return type(value).__name__ if kind is None else kind.str_short()


def type_of(value: Value) -> Tree:
    """Return the type of a value for jax; None if it has none, which jax says better."""
    try:
        return jax.typeof(value)
    except TypeError:
        return None


A = TypeVar("A")
B = TypeVar("B")
Ts = TypeVarTuple("Ts")

Scalar: TypeAlias = ArrayLike | AnyVariable
"""What a condition, an index or a bound may be."""


@hides_frames
def cond(
    pred: Scalar,
    true_fun: Callable[[*Ts], A],
    false_fun: Callable[[*Ts], B],
    *operands: *Ts,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> A | B:
    """Run one of two functions, as `jax.lax.cond` does for arrays.

    Changes to operands and to captured Modules are visible outside. All branches must leave the
    same structure. If they return different captured objects, the result is a new object with the
    values of the selected one.

    >>> import jax.numpy as jnp
    >>> count = Variable(jnp.array(1))
    >>> def double(count): count[...] *= 2
    >>> cond(count[...] > 0, double, lambda count: None, count)
    >>> int(count[...])
    2

    Args:
        pred: A bool or number, traced or not, or a Variable of one.
        true_fun: What to run if it is true: a function of the operands.
        false_fun: What to run if it is false.
        *operands: The operands.
        graph: False asserts that the operands are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        BranchMismatchError: The branches leave different structures or types.

    Returns:
        What the branch returned.
    """
    result: A | B = _run("cond", pred, (true_fun, false_fun), operands, graph, graph_updates)
    return result


# mypy finds no common type for a list of functions that return different things: then the type of
# the result is not known, while the operands are still checked.
@overload
def switch(
    index: Scalar,
    branches: Sequence[Callable[[*Ts], A]],
    *operands: *Ts,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> A: ...
@overload
def switch(
    index: Scalar,
    branches: Sequence[Callable[[*Ts], Tree]],
    *operands: *Ts,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Tree: ...
@hides_frames
def switch(
    index: Scalar,
    branches: Sequence[Callable[[*Ts], Tree]],
    *operands: *Ts,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Tree:
    """Run one of several functions, as `jax.lax.switch` does for arrays; see `cond`.

    Args:
        index: The number of the function, clamped to those that there are, or a Variable of it.
        branches: The functions of the operands.
        *operands: The operands.
        graph: False asserts that the operands are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        BranchMismatchError: The branches leave different structures or types.

    Returns:
        What the branch returned.
    """
    return _run("switch", index, tuple(branches), operands, graph, graph_updates)


def _run(
    name: str,
    index: Tree,
    functions: tuple[Function, ...],
    operands: Sequence[Value],
    graph: bool | None,
    graph_updates: bool | None,
) -> Tree:
    lift = Lift(name, functions, graph, graph_updates)
    # Every branch returns all values: jax drops those that no branch changes.
    call = lift.gather(operands, kept=[True] * len(operands), keep_captured=True)
    choice = index.get_value() if isinstance(index, Variable) else index

    def make(start: StartTrace) -> _Branches:
        return _Branches(name, functions, call.signature, start)

    with CachedTrace(lift, call.signature, (), make) as branches:
        flat = branches.run(choice, call.args, call.captured)
    return lift.finish(call, flat)


class _Branches:
    """The branches as functions of plain values, which compare what they leave.

    Of the user's functions only what describes them is kept.
    """

    def __init__(
        self, name: str, functions: Sequence[Function], signature: Signature, start: StartTrace
    ) -> None:
        self._name = name
        self._signature = signature
        self._start = start
        self._described = list(map(describe, functions))
        self._first: tuple[int, TraceResult] | None = None
        self._functions, self._copying = [
            [self._branch(number, each, copies) for number, each in enumerate(functions)]
            for copies in (False, True)
        ]

    def run(self, choice: Tree, *inputs: Tree) -> TraceResult:
        """Return what the chosen branch left.

        Raises:
            BranchMismatchError: The branches leave different structures or types.
        """
        try:
            return self._chosen(choice, inputs)
        except BranchMismatchError as error:
            if self._functions is self._copying:
                raise
            self._functions = self._copying
            try:
                return self._chosen(choice, inputs)
            except BranchMismatchError:
                raise error from None

    def _chosen(self, choice: Tree, inputs: Sequence[Value]) -> TraceResult:
        try:
            if self._name == "cond":
                found: TraceResult = jax.lax.cond(choice, *self._functions, *inputs)
            else:
                found = jax.lax.switch(choice, self._functions, *inputs)
            return found
        finally:
            self._first = None  # it holds tracers

    def _branch(self, number: int, function: Function, copies: bool) -> Callable[..., TraceResult]:
        signature, parameters = self._signature, Parameters(function)

        def flat(args: Tree, captured: Tree) -> TraceResult:
            trace = self._start(signature, args, {}, captured)
            result = trace.run(number)
            if copies:
                result = _without_captured(result, trace)
            found = trace.finish(result)
            if self._first is None or self._first[0] == number:
                self._first = (number, found)
            else:
                self._compare(*self._first, number, found)
            return found

        def names(args: Tree, captured: Tree) -> Tree:
            every, _, closed = names_of(parameters, signature, args, {}, captured)
            return every, closed

        return shown(flat, function, names)

    def _compare(self, first: int, one: TraceResult, number: int, other: TraceResult) -> None:
        """Raise if two branches leave different structures or types.

        Raises:
            BranchMismatchError: It names what differs and where.
        """
        names = self._named(first), self._named(number)
        found = branch_differences(self._signature.parts, one, other, names)
        if found:
            left, right = [
                f"{name} ({self._described[n]})"
                for name, n in zip(names, (first, number), strict=True)
            ]
            raise BranchMismatchError(self._name, left, right, found)

    def _named(self, number: int) -> str:
        if self._name == "cond":
            return "false_fun" if number else "true_fun"
        return f"branch {number}"


def _without_captured(result: Tree, trace: Trace) -> Tree:
    """Return a result with copies of its objects, if they came in by closures and not as operands."""
    treedef: TreeDef
    leaves, treedef = jax.tree.flatten(result, is_leaf=is_object)
    objects = [leaf for leaf in leaves if is_object(leaf)]
    reached = Traversal().visit(objects).index.keys()
    if reached & Traversal().visit(trace.args).index.keys() or not reached & trace.known():
        return result
    copies = iter(clone(objects, graph=True))
    return treedef.unflatten([next(copies) if is_object(leaf) else leaf for leaf in leaves])
