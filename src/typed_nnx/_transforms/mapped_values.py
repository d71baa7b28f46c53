"""Values that differ along a mapped axis."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

from typed_nnx._core.leaves import describe_leaf
from typed_nnx._core.paths import Path, key_of_entry
from typed_nnx._core.trace import context
from typed_nnx._transforms.gather import Call, Place, prefix_of_leaf
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.places import place_name, result_name
from typed_nnx._transforms.prefixes import Prefix, broadcast, by_filter
from typed_nnx._transforms.signature import Effects, Grown, in_order
from typed_nnx.errors import AxisSizeError, BroadcastChangedError, ReplicatedChangedError

Named: TypeAlias = tuple[Callable[[], str], Prefix, Any]
"""How to name a value, its prefix, and the value."""


def check_broadcast(function: str, call: Call, outs: Prefix, found: Flat) -> None:
    """Raise if what is not mapped got a value that differs along the mapped axis.

    Raises:
        BroadcastChangedError: With the paths of such Variables and results.
    """
    paths = [
        name()
        for name, axis, value in (*_changes(call, found), *_returned(found, outs))
        if axis is None and any(map(_is_mapped, jax.tree.leaves(value)))
    ]
    if paths:
        raise BroadcastChangedError(function, paths)


def check_replicated(function: str, call: Call, outs: Prefix, found: Flat) -> None:
    """Raise if something got a value that differs along a mesh axis which its spec does not name.

    Raises:
        ReplicatedChangedError: With the paths of such Variables and results.
    """
    places = []
    for name, spec, value in (*_changes(call, found), *_returned(found, outs)):
        known = _axes_in(spec)
        axes = {axis for each in jax.tree.leaves(value) for axis in _varying(each)} - known
        if axes:
            places.append((name(), str(spec), tuple(sorted(axes, key=str))))
    if places:
        raise ReplicatedChangedError(function, places)


def check_sizes(
    function: str, inputs: Iterable[tuple[str, Prefix, Any]], option: str, size: int | None
) -> None:
    """Raise if values are mapped over axes of different sizes.

    Args:
        function: The transform and the function.
        inputs: Name, axis and value of each value that goes in.
        option: The name of the option that gives the size.
        size: What it gives.

    Raises:
        AxisSizeError: It names the values.
    """
    found: dict[int | None, list[str]] = {}
    for name, axis, value in inputs:
        if isinstance(axis, int):
            shape = jnp.shape(value)
            own = shape[axis] if -len(shape) <= axis < len(shape) else None
            text = f"axis {axis} of {name}, {describe_leaf(value)}"
            found.setdefault(own, []).append(text)
    if size is not None:
        found.setdefault(size, []).append(option)
    if len(found) > 1 or None in found:
        raise AxisSizeError(function, found) from None


def _varying(value: Any) -> frozenset[Any]:
    """Return the mesh axes along which a value differs; none if jax does not tell."""
    kind = getattr(jax.typeof(value), "manual_axis_type", None)
    return frozenset() if kind is None else frozenset(kind.varying)


def _axes_in(spec: Prefix) -> set[Any]:
    """Return the mesh axes that a spec names."""
    entries = [each if isinstance(each, tuple) else (each,) for each in spec or ()]
    return {axis for each in entries for axis in each}


def _changes(call: Call, found: Flat) -> Iterator[Named]:
    """Yield the name, prefix and new value of each value that changed."""
    effects: Effects = found.static.value
    parts = zip(call.signature.parts, call.places, effects.changed, strict=True)
    for number, (part, place, changed) in enumerate(parts):
        for leaf, value in zip(changed, found.values_of(number, part), strict=False):
            name = functools.partial(_name, place, leaf)
            yield name, prefix_of_leaf(part, leaf), value


def _name(place: Place, leaf: int) -> str:
    return place_name((*place.path, *place.structure.layout.paths[leaf]))


def _returned(found: Flat, outs: Prefix) -> Iterator[Named]:
    """Yield the name, prefix and value of each value in the result."""
    effects: Effects = found.static.value
    treedef = effects.treedef
    if treedef is None:
        treedef = jax.tree.structure(found.result)
    grown = effects.results or [None] * treedef.num_leaves
    entries = jax.tree_util.tree_leaves_with_path(treedef.unflatten(range(treedef.num_leaves)))
    leaves = treedef.flatten_up_to(found.result)
    for (keys, _), own, structure, pure in zip(
        entries, broadcast(outs, treedef), grown, leaves, strict=True
    ):
        path = tuple(map(key_of_entry, keys))
        if structure is None:
            yield functools.partial(result_name, path), own, pure
        else:
            yield from _in_object(path, own, structure, pure)


def _in_object(path: Path, prefix: Prefix, structure: Grown, pure: Any) -> Iterator[Named]:
    filters, groups = by_filter(prefix), structure.groups
    values = in_order(groups, pure)
    for below, source in zip(structure.graphdef.layout.paths, structure.sources, strict=True):
        if isinstance(source, int):  # else it is not new
            own = prefix
            if filters is not None and groups is not None:
                own = filters.values_in_order[groups[source]]
            yield functools.partial(result_name, (*path, *below)), own, values[source]


def _is_mapped(value: Any) -> bool:
    # The tracers of a mapping transform are its mapped values; all others are constants to it. Of its
    # own those have no batch axis that `jax.custom_vjp` made from constants.
    ours = getattr(value, "_trace", None) is context.trace
    return ours and getattr(value, "batch_dim", 0) is not None
