"""What loops carry from step to step: the values of objects, whose structure must stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from typed_nnx._core.nodes import Spec
from typed_nnx._graph.graphdef import LEAF_ITEM, GraphDef
from typed_nnx._transforms.gather import is_object
from typed_nnx._transforms.inside import Inside
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.places import place_name, shown_tree
from typed_nnx._transforms.signature import (
    Argument,
    Effects,
    Grown,
    Part,
    Repeated,
    Signature,
    leaf_positions,
)
from typed_nnx._transforms.structure_changes import changes_of
from typed_nnx.errors import CarryStructureError, CarryTypeError

KEEP = "keep the structure, and create or remove things before or after the loop"
CARRY_RESULT = "carry"
SAME = (
    "return a carry of the same structure: change the objects that were passed in, and return them "
    "in the same places"
)


def returned_values(function: str, argument: Argument | None, given: Any, result: Any) -> Any:
    """Return the plain values of what a step returned for its carry, None in the place of objects.

    Args:
        function: The name of the transform.
        argument: What is static about the carry; None if it holds no objects.
        given: The carry that the step got, with objects.
        result: The carry that it returned.

    Raises:
        CarryStructureError: It has another structure, or other objects in it.
        CarryTypeError: A value has another shape or dtype.
    """
    treedef: Any
    entries, treedef = jax.tree_util.tree_flatten_with_path(result, is_leaf=is_object)
    before: Any
    olds, before = jax.tree.flatten(given, is_leaf=is_object)
    if treedef != before:
        change = f"{CARRY_RESULT} was {shown_tree(given)}, is {shown_tree(result)}"
        raise CarryStructureError(function, [change], SAME)
    structure, types = [], []
    for (path, leaf), old in zip(entries, olds, strict=True):
        if is_object(leaf) or is_object(old):
            if leaf is not old:
                structure.append(f"{_place(path)}: {_exchange(function, old, leaf)}")
        elif _has_type(leaf) and not _alike(old, leaf):
            types.append((_place(path), _describe(old), _describe(leaf)))
    if structure:
        raise CarryStructureError(function, structure, SAME)
    if types:
        raise CarryTypeError(function, types)
    if argument is None:
        return result
    return treedef.unflatten([None if is_object(leaf) else leaf for _, leaf in entries])


def _has_type(value: Any) -> bool:
    """Whether a value is one for jax, which says better what is wrong with another."""
    try:
        jax.typeof(value)
    except TypeError:
        return False
    return True


def _place(path: Any) -> str:
    return f"{CARRY_RESULT}{jax.tree_util.keystr(path)}"


def _what(value: Any) -> str:
    return f"a {type(value).__name__}" if is_object(value) else "an array"


def _exchange(function: str, before: Any, after: Any) -> str:
    if type(before) is type(after):
        transform = function.partition(" of ")[0]
        return (
            f"another {type(after).__name__} was returned than was given. Carry references "
            f"must be the same between iterations; {transform} Variable identity must be preserved across iterations"
        )
    return f"{_what(before)} was given, {_what(after)} was returned"


def check_structures(
    function: str, signature: Signature, flat: Flat, may_grow: Callable[[int, Grown], bool]
) -> None:
    """Raise if the structure of something that is carried changed.

    Raises:
        CarryStructureError: It names what changed and where.
    """
    effects: Effects = flat.static.value
    for number, grown in enumerate(effects.grown):
        if grown is not None and not may_grow(number, grown):
            before = signature.parts[number].graphdef
            after: GraphDef[Any] = grown.graphdef
            raise CarryStructureError(
                function, changes_of(before, after, place_name(signature.parts[number].path)), KEEP
            )


def stays_in_place(number: int, part: Part, leaves: Sequence[int], grown: Grown) -> bool:
    """Whether leaves are after a step where they were before, and are the same ones.

    Args:
        number: The number of a part.
        part: The part before the step.
        leaves: Its leaves that are carried.
        grown: Its structure after the step.
    """
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


def _has_same_nodes(before: GraphDef[Any], after: GraphDef[Any]) -> bool:
    """Whether two structures have the same nodes and references, whatever their static values are."""
    return list(map(_outline, before.items)) == list(map(_outline, after.items))


def _outline(item: Any) -> Any:
    return (item.cls, item.names) if isinstance(item, Spec) else type(item)


def next_values(inside: Inside, flat: Flat, number: int) -> list[Any]:
    """Return the values of all leaves of a part after a step."""
    effects: Effects = flat.static.value
    values = list(inside.given[number])
    part = inside.signature.parts[number]
    for leaf, value in zip(effects.changed[number], flat.values_of(number, part), strict=False):
        values[leaf] = value
    return values


def check_types(
    function: str,
    parts: Sequence[Part],
    before: Sequence[Sequence[Any]],
    after: Sequence[Sequence[Any]],
) -> None:
    """Raise if a value that is carried changed its shape or dtype.

    Raises:
        CarryTypeError: With the path of each.
    """
    changes = []
    for part, olds, news in zip(parts, before, after, strict=True):
        paths = part.graphdef.layout.paths
        for path, old, new in zip(paths, olds, news, strict=True):
            if not _alike(old, new):
                where = place_name((*part.path, *path))
                changes.append((where, _describe(old), _describe(new)))
    if changes:
        raise CarryTypeError(function, changes)


def _alike(old: Any, new: Any) -> bool:
    if old is new:
        return True
    before: Any
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


def _describe(value: Any) -> str:
    leaves = jax.tree.leaves(value)
    if len(leaves) == 1 and leaves[0] is value:
        aval = jax.typeof(jnp.asarray(value) if isinstance(value, int | float) else value)
        return f"{aval.dtype}[{','.join(map(str, aval.shape))}]"
    return str(jax.tree.map(_describe, value)) if leaves else repr(value)


def with_values(argument: Argument | None, plain: Any, values: dict[int, Any]) -> Any:
    """Return a carry as plain values: those of objects by the number of their part."""
    if argument is None:
        return plain
    return argument.map(
        lambda part, _: part.nothing() if isinstance(part, Repeated) else values[id(part)], plain
    )


def with_objects(argument: Argument | None, plain: Any, given: Any) -> Any:
    """Return a carry with the objects of another one, `given`, in it."""
    if argument is None:
        return plain
    objects = argument.treedef.flatten_up_to(given)
    leaves = zip(argument.pairs(plain), objects, strict=True)
    return argument.treedef.unflatten(
        [leaf if part is None else found for (part, leaf), found in leaves]
    )
