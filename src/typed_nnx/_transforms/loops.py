"""`while_loop` and `fori_loop` that carry Modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import jax
import jax.numpy as jnp

from typed_nnx._core.jax_runtime import hides_frames
from typed_nnx._core.nodes import Spec, TreeDef
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import LEAF_ITEM, GraphDef
from typed_nnx._transforms.conditionals import Scalar, type_of
from typed_nnx._transforms.engine.call import CARRY, is_object, place_name, shown_tree
from typed_nnx._transforms.engine.closures import Parameters, describe
from typed_nnx._transforms.engine.explain import changes_of, names_of, shown
from typed_nnx._transforms.engine.lift import Lift
from typed_nnx._transforms.engine.prefixes import Function, Tree, Value
from typed_nnx._transforms.engine.signature import (
    Argument,
    Divided,
    Effects,
    Part,
    Signature,
    Structure,
    TraceResult,
    leaf_positions,
)
from typed_nnx._transforms.engine.trace import Trace
from typed_nnx._transforms.engine.trace_cache import CachedTrace, StartTrace
from typed_nnx.errors import CarryTypeError, StructureChangedError

KEEP = "keep the structure, and create or remove things before or after the loop"
STRUCTURE_CHANGED = "the structure of the carry changed in a step"
CARRY_RESULT = "carry"
SAME = (
    "return a carry of the same structure: change the objects that were passed in, and return them "
    "in the same places"
)


def check_returned(function: str, given: Tree, result: Tree) -> None:
    """Raise if a step returned another carry than it got, apart from values.

    Raises:
        CarryTypeError: It has another structure, or other objects in it, or a value has another
            shape or dtype.
    """
    treedef: TreeDef
    entries, treedef = jax.tree_util.tree_flatten_with_path(result, is_leaf=is_object)
    before: Tree
    olds, before = jax.tree.flatten(given, is_leaf=is_object)
    if treedef != before:
        change = f"{CARRY_RESULT} was {shown_tree(given)}, is {shown_tree(result)}"
        raise CarryTypeError(function, [change], STRUCTURE_CHANGED, SAME)
    structure, types = [], []
    for (path, leaf), old in zip(entries, olds, strict=True):
        if is_object(leaf) or is_object(old):
            if leaf is not old:
                structure.append(f"{_place(path)}: {_exchange(function, old, leaf)}")
        elif type_of(leaf) is not None and not _alike(old, leaf):
            types.append(_type_change(_place(path), old, leaf))
    if structure:
        raise CarryTypeError(function, structure, STRUCTURE_CHANGED, SAME)
    if types:
        raise CarryTypeError(function, types)


def _place(path: Tree) -> str:
    return f"{CARRY_RESULT}{jax.tree_util.keystr(path)}"


def _what(value: Value) -> str:
    return f"a {type(value).__name__}" if is_object(value) else "an array"


def _exchange(function: str, before: Tree, after: Tree) -> str:
    if type(before) is type(after):
        transform = function.partition(" of ")[0]
        return (
            f"another {type(after).__name__} was returned than was given. Carry references "
            f"must be the same between iterations; {transform} Variable identity must be preserved across iterations"
        )
    return f"{_what(before)} was given, {_what(after)} was returned"


def stays_in_place(number: int, part: Part, leaves: Sequence[int], grown: Structure) -> bool:
    """Whether leaves of a part are after a step where they were before, and are the same ones."""
    before, after = part.graphdef, grown.graphdef
    if not grown.count and not _has_same_nodes(before, after):
        return False
    numbers = after.outer or ()
    found = {}
    entries = zip(after.layout.paths, leaf_positions(after), grown.sources, strict=True)
    for path, position, source in entries:
        origin = source if numbers[position] is None else numbers[position]
        found[path] = (after.items[position], origin)
    positions = part.leaf_positions()
    for leaf in leaves:
        item = before.items[positions[leaf]]
        # A bare array has no identity; what it holds tells where it comes from.
        wanted = (number, leaf) if item == LEAF_ITEM else part.offset + positions[leaf]
        if found.get(before.layout.paths[leaf]) != (item, wanted):
            return False
    return True


def _has_same_nodes(before: GraphDef, after: GraphDef) -> bool:
    """Whether two structures have the same nodes and references, whatever their static values are."""
    return list(map(_outline, before.items)) == list(map(_outline, after.items))


def _outline(item: Tree) -> Tree:
    return (item.cls, item.names) if isinstance(item, Spec) else type(item)


def never(*_: object) -> bool:
    """Say no."""
    return False


def next_values(
    function: str,
    trace: Trace,
    flat: TraceResult,
    may_grow: Callable[[int, Structure], bool] = never,
    is_scanned: Callable[[int, int], bool] = never,
) -> list[Divided[Value]]:
    """Return the values of each part for the next step; what is scanned over is as it was.

    Raises:
        CarryTypeError: The structure of something that is carried changed, or a shape or dtype. It
            names what changed and where.
    """
    parts = trace.signature.parts
    for number, grown in enumerate(flat.effects.structures):
        if grown is not None and not may_grow(number, grown):
            part = parts[number]
            changes = changes_of(part.graphdef, grown.graphdef, place_name(part.path))
            raise CarryTypeError(function, changes, STRUCTURE_CHANGED, KEEP)
    found, changes = [], []
    for number, (part, given) in enumerate(zip(parts, trace.given, strict=True)):
        values = list(given)
        for leaf, value in flat.changes(number, part):
            if is_scanned(number, leaf):
                continue
            if not _alike(given[leaf], value):
                where = place_name((*part.path, *part.graphdef.layout.paths[leaf]))
                changes.append(_type_change(where, given[leaf], value))
            values[leaf] = value
        found.append(part.groups.divide(values))
    if changes:
        raise CarryTypeError(function, changes)
    return found


def _type_change(place: str, before: Tree, after: Tree) -> str:
    return f"{place}: {_describe(before)} before, {_describe(after)} after"


def _alike(old: Value, new: Value) -> bool:
    if old is new:
        return True
    before: Tree
    olds, before = jax.tree.flatten(old)
    news, after = jax.tree.flatten(new)
    if before != after:
        return False
    for one, two in zip(olds, news, strict=True):
        left, right = jax.typeof(one), jax.typeof(two)
        if left.shape != right.shape:
            return False
        # A weak type, such as that of the number 0, is promoted by jax.
        if left.dtype != right.dtype and not getattr(left, "weak_type", False):
            return False
    return True


def _describe(value: Value) -> str:
    leaves = jax.tree.leaves(value)
    if len(leaves) == 1 and leaves[0] is value:
        aval = jax.typeof(jnp.asarray(value) if isinstance(value, int | float) else value)
        return f"{aval.dtype}[{','.join(map(str, aval.shape))}]"
    return str(jax.tree.map(_describe, value)) if leaves else repr(value)


def with_objects(argument: Argument | None, plain: Tree, given: Tree) -> Tree:
    """Return a carry with the objects of another one, `given`, in it."""
    if argument is None:
        return plain
    objects = argument.treedef.flatten_up_to(given)
    leaves = zip(argument.pairs(plain), objects, strict=True)
    return argument.treedef.unflatten(
        [leaf if part is None else found for (part, leaf), found in leaves]
    )


T = TypeVar("T")

# The positions of the user's functions in a loop.
_BODY, _CONDITION = 0, 1


@hides_frames
def while_loop(
    cond_fun: Callable[[T], Scalar],
    body_fun: Callable[[T], T],
    init_val: T,
    *,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> T:
    """Run a function as long as a condition holds, as `jax.lax.while_loop` does for arrays.

    Objects in the carry, and those that the body closes over, may change from step to step, but not
    their structure. The body must return the objects that it got, in the same places.

    >>> import jax.numpy as jnp
    >>> count = Variable(jnp.array(0))
    >>> def step(count):
    ...     count[...] += 1
    ...     return count
    >>> int(while_loop(lambda count: count < 5, step, count)[...])
    5

    Args:
        cond_fun: A function of the carry that returns a bool scalar and changes nothing.
        body_fun: A function of the carry that returns the next one.
        init_val: The first carry: a tree of objects and arrays.
        graph: False asserts that the carry is a tree, without shared references.
        graph_updates: Has no effect here: structures never change.

    Raises:
        CarryTypeError: A step changed the structure of the carry, or a step changed the shape or
            dtype of a value.
        StructureChangedError: The condition changed an object.

    Returns:
        The last carry, with the objects of the first.
    """
    functions = body_fun, cond_fun

    def run(loop: _Loop, carry: Tree) -> Tree:
        return jax.lax.while_loop(loop.condition, loop.body, carry)

    return _run("while_loop", functions, run, init_val, graph, graph_updates)


# The number is an array, but many write ``i: int``.
@overload
def fori_loop(
    lower: Scalar,
    upper: Scalar,
    body_fun: Callable[[jax.Array, T], T],
    init_val: T,
    *,
    unroll: int | bool | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> T: ...
@overload
def fori_loop(
    lower: Scalar,
    upper: Scalar,
    body_fun: Callable[[int, T], T],
    init_val: T,
    *,
    unroll: int | bool | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> T: ...
@hides_frames
def fori_loop(
    lower: Scalar,
    upper: Scalar,
    body_fun: Callable[[Any, T], T],
    init_val: T,
    *,
    unroll: int | bool | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> T:
    """Run a function for each number of a range, as `jax.lax.fori_loop` does for arrays.

    See `while_loop` for what is carried.

    Args:
        lower: The first number: an int scalar, traced or not, or a Variable of one.
        upper: The number after the last.
        body_fun: A function of the number and the carry that returns the next carry.
        init_val: The first carry: a tree of objects and arrays.
        unroll: How many steps to unroll, or whether to unroll all; only for bounds that are known.
        graph: False asserts that the carry is a tree, without shared references.
        graph_updates: Has no effect here: structures never change.

    Raises:
        CarryTypeError: A step changed the structure of the carry, or a step changed the shape or
            dtype of a value.

    Returns:
        The last carry, with the objects of the first.
    """
    first, last = [x.get_value() if isinstance(x, Variable) else x for x in (lower, upper)]

    def run(loop: _Loop, carry: Tree) -> Tree:
        return jax.lax.fori_loop(first, last, loop.body, carry, unroll=unroll)

    return _run("fori_loop", (body_fun,), run, init_val, graph, graph_updates)


def _run(
    name: str,
    functions: tuple[Function, ...],
    run: Callable[[_Loop, Tree], Tree],
    init_val: T,
    graph: bool | None,
    graph_updates: bool | None,
) -> T:
    lift = Lift(name, functions, graph, graph_updates)
    call = lift.gather((init_val,), roots=(CARRY,))

    def make(start: StartTrace) -> _Loop:
        return _Loop(lift.title, functions, call.signature, start)

    with CachedTrace(lift, call.signature, (), make) as loop:
        value, captured = run(loop, (call.args[0], call.captured))
    updates = tuple(call.signature.values_in((value,), captured))
    changed = tuple([tuple(range(len(each.values))) for each in call.inputs])
    effects = Effects(changed, (), tuple([0] * len(changed)), None, ())
    lift.finish(call, TraceResult(updates, None, effects))
    last: T = with_objects(call.signature.arguments[0], value, init_val)
    return last


class _Loop:
    """A loop over plain values: the carry and what the functions close over.

    Of the functions, a body and for `while_loop` a condition, only what describes them is kept.
    """

    def __init__(
        self, title: str, functions: Sequence[Function], signature: Signature, start: StartTrace
    ) -> None:
        self._title = title
        self._signature = signature
        self._start = start
        self.body = self._shown(self._step, functions[_BODY])
        if len(functions) > 1:
            self.condition = self._shown(self._test, functions[_CONDITION])
            self._described = describe(functions[_CONDITION])

    def _shown(self, flat: Function, function: Function) -> Function:
        """Return a function of plain values that jax shows as one of the user's functions."""
        signature, parameters = self._signature, Parameters(function)

        def names(*inputs: Tree) -> Tree:
            *before, (value, captured) = inputs
            *roots, root = [parameters[number] for number in range(len(inputs))]
            (carry,), _, closed = names_of([root], signature, (value,), {}, captured)
            return *roots[: len(before)], (carry, closed)

        return shown(flat, function, names)

    def _test(self, carry: Tree) -> Tree:
        """Return whether to go on.

        Raises:
            StructureChangedError: The user's function changed something.
        """
        value, captured = carry
        trace = self._start(self._signature, (value,), {}, captured)
        result = trace.run(_CONDITION)
        effects = trace.finish(None).effects
        paths = []
        for number, part in enumerate(self._signature.parts):
            for leaf in effects.changed[number]:
                paths.append(place_name((*part.path, *part.graphdef.layout.paths[leaf])))
            if effects.structure_of(number) is not None:
                paths.append(f"{place_name(part.path)} (its structure)")
        if paths:
            raise StructureChangedError(
                "while_loop",
                paths,
                "make the change in body_fun",
                f"cond_fun {self._described} changed objects, which it must not",
            )
        return result.get_value() if isinstance(result, Variable) else result

    def _step(self, *inputs: Tree) -> Tree:
        """Return the plain values of the next carry; the number of a `fori_loop` comes before it."""
        *before, (value, captured) = inputs
        signature = self._signature
        trace = self._start(signature, (value,), {}, captured)
        given, result = trace.args[0], trace.run(_BODY, *before)
        check_returned(self._title, given, result)
        values = next_values(self._title, trace, trace.finish(None))
        (carry,), closed = signature.with_values((result,), values)
        return carry, closed
