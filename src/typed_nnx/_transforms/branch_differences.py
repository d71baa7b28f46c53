"""What two branches of `cond` or `switch` leave, compared, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import jax

from typed_nnx._core.paths import attribute_path, key_of_entry
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.places import Word, place_name, result_name
from typed_nnx._transforms.signature import Effects, Grown
from typed_nnx._transforms.structure_changes import between

Names: TypeAlias = tuple[str, str]
"""What to call the branches."""


def branch_differences(call: Call, one: Flat, other: Flat, names: Names) -> list[str]:
    """Return what differs between what two branches leave, a line for each place.

    Args:
        call: The call of both.
        one: What the one branch left, with the values of all Variables.
        other: What the other left.
        names: What to call them.
    """
    return _structures(call, one, other, names) or [
        *_types(call, one, other, names),
        *_results(one, other, names),
    ]


def _structures(call: Call, one: Flat, other: Flat, names: Names) -> list[str]:
    lefts, rights = one.static.value.grown, other.static.value.grown
    lines: list[str] = []
    for number, (part, place) in enumerate(zip(call.signature.parts, call.places, strict=True)):
        left = lefts[number] if lefts else None
        right = rights[number] if rights else None
        if left != right:
            before = part.graphdef if left is None else left.graphdef
            after = part.graphdef if right is None else right.graphdef
            lines.extend(between(before, after, place_name(place.path), *names))
    return lines


def _types(call: Call, one: Flat, other: Flat, names: Names) -> Iterator[str]:
    effects: Effects = one.static.value
    grown = effects.grown or [None] * len(call.places)
    parts = zip(call.places, effects.changed, grown, one.updates, other.updates, strict=True)
    for place, changed, structure, lefts, rights in parts:
        for leaf, left, right in zip(changed, lefts, rights, strict=False):
            path = (*place.path, *place.structure.layout.paths[leaf])
            yield from _values(place_name(path), left, right, names)
        if structure is not None:
            new = lefts[len(changed) :], rights[len(changed) :]
            yield from _inside(place_name(place.path), structure, *new, names)


def _results(one: Flat, other: Flat, names: Names) -> Iterator[str]:
    lefts, rights = _entries(one), _entries(other)
    if lefts.keys() != rights.keys() or _tree(one) != _tree(other):
        yield f"result: {_shown(one)} after {names[0]}, {_shown(other)} after {names[1]}"
        return
    for where, (structure, left) in lefts.items():
        structure_too, right = rights[where]
        if structure is None and structure_too is None:
            yield from _values(where, left, right, names)
        elif structure is None or structure_too is None:
            kinds = [_kind(structure), _kind(structure_too)]
            yield f"{where} is {kinds[0]} after {names[0]}, {kinds[1]} after {names[1]}"
        elif structure != structure_too:
            graphdefs = structure.graphdef, structure_too.graphdef
            yield from between(*graphdefs, where, *names)
        else:
            yield from _inside(where, structure, left, right, names)


def _inside(
    where: str, structure: Grown, lefts: Sequence[Any], rights: Sequence[Any], names: Names
) -> Iterator[str]:
    """Yield the new values in an object that differ in type."""
    for path, source in zip(structure.graphdef.layout.paths, structure.sources, strict=True):
        if isinstance(source, int):
            name = f"{where}{attribute_path(path)}"
            yield from _values(name, lefts[source], rights[source], names)


def _tree(flat: Flat) -> Any:
    """Return the structure of a result, with an object as a leaf."""
    known = flat.static.value.treedef
    return jax.tree.structure(flat.result) if known is None else known


def _entries(flat: Flat) -> dict[str, tuple[Grown | None, Any]]:
    """Return the structure and value of each leaf of a result by its name."""
    treedef = _tree(flat)
    numbers = treedef.unflatten(range(treedef.num_leaves))
    paths = [path for path, _ in jax.tree_util.tree_leaves_with_path(numbers)]
    names = [result_name(tuple(map(key_of_entry, path))) for path in paths]
    structures = flat.static.value.results or [None] * len(names)
    leaves = treedef.flatten_up_to(flat.result)
    return dict(zip(names, zip(structures, leaves, strict=True), strict=True))


def _shown(flat: Flat) -> str:
    """Return a result with the types of its leaves in their places."""
    treedef = _tree(flat)
    kinds = [
        Word(_named(leaf) if structure is None else _kind(structure))
        for structure, leaf in _entries(flat).values()
    ]
    return repr(treedef.unflatten(kinds))


def _kind(structure: Grown | None) -> str:
    if structure is None:
        return "an array"
    cls = getattr(structure.graphdef.items[0], "cls", None)  # none if it is there before
    return "an object" if cls is None else f"a {cls.__name__}"


def _values(where: str, left: Any, right: Any, names: Names) -> Iterator[str]:
    treedef: Any
    lefts, treedef = jax.tree.flatten(left)
    rights, other = jax.tree.flatten(right)
    if treedef != other:
        yield f"{where} is {left!r} after {names[0]}, {right!r} after {names[1]}"
        return
    for one, two in zip(map(_type, lefts), map(_type, rights), strict=True):
        if one is not None and two is not None and not _are_alike(one, two):
            yield f"{where} is {one.str_short()} after {names[0]}, {two.str_short()} after {names[1]}"


def _are_alike(left: Any, right: Any) -> bool:
    return bool(left.shape == right.shape and left.dtype == right.dtype)


def _named(value: Any) -> str:
    kind = _type(value)
    return type(value).__name__ if kind is None else kind.str_short()


def _type(value: Any) -> Any:
    """Return the type of a value for jax; None if it has none, which jax says better."""
    try:
        return jax.typeof(value)
    except TypeError:
        return None
