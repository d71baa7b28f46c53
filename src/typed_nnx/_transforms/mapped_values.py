"""Values that differ along a mapped axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax

from typed_nnx._core.trace import context
from typed_nnx._transforms.gather import Call, Place, prefix_of_leaf
from typed_nnx._transforms.leaving import Flat
from typed_nnx._transforms.places import place_name
from typed_nnx._transforms.prefixes import Prefix
from typed_nnx._transforms.signature import Effects, Part, in_order
from typed_nnx.errors import BroadcastChangedError, ReplicatedChangedError


def check_broadcast(function: str, call: Call, found: Flat) -> None:
    """Raise if a Variable that is not mapped got a value that differs along the mapped axis.

    Raises:
        BroadcastChangedError: With the paths of such Variables.
    """
    paths = [
        _name(place, leaf)
        for place, leaf, axis, value in _changes(call, found)
        if axis is None and any(map(_is_mapped, jax.tree.leaves(value)))
    ]
    if paths:
        raise BroadcastChangedError(function, paths)


def check_replicated(function: str, call: Call, found: Flat) -> None:
    """Raise if a Variable got a value that differs along a mesh axis which its spec does not name.

    Raises:
        ReplicatedChangedError: With the paths of such Variables.
    """
    places = []
    for place, leaf, spec, value in _changes(call, found):
        known = _axes_in(spec)
        axes = {axis for each in jax.tree.leaves(value) for axis in _varying(each)} - known
        if axes:
            places.append((_name(place, leaf), str(spec), tuple(sorted(axes, key=str))))
    if places:
        raise ReplicatedChangedError(function, places)


def _name(place: Place, leaf: int) -> str:
    return place_name((*place.path, *place.structure.layout.paths[leaf]))


def _varying(value: Any) -> frozenset[Any]:
    """Return the mesh axes along which a value differs; none if jax does not tell."""
    kind = getattr(jax.typeof(value), "manual_axis_type", None)
    return frozenset() if kind is None else frozenset(kind.varying)


def _axes_in(spec: Prefix) -> set[Any]:
    """Return the mesh axes that a spec names."""
    entries = [each if isinstance(each, tuple) else (each,) for each in spec or ()]
    return {axis for each in entries for axis in each}


def _changes(call: Call, found: Flat) -> Iterator[tuple[Place, int, Prefix, Any]]:
    """Yield place, leaf, prefix and new value of each value that changed."""
    effects: Effects = found.static.value
    parts = zip(call.signature.parts, call.places, effects.changed, found.updates, strict=True)
    for part, place, changed, pure in parts:
        for leaf, value in zip(changed, _in_order(part, changed, pure), strict=False):
            yield place, leaf, prefix_of_leaf(part, place, leaf), value


def _in_order(part: Part, changed: tuple[int, ...], pure: Any) -> list[Any]:
    if part.groups is None:
        return list(pure)
    return in_order(tuple([part.groups[leaf] for leaf in changed]), pure)


def _is_mapped(value: Any) -> bool:
    # The tracers of a mapping transform are its mapped values; all others are constants to it.
    return getattr(value, "_trace", None) is context.trace
