"""Values that differ along a mapped axis."""

from __future__ import annotations

from typing import Any

import jax

from typed_nnx._core.paths import attribute_path
from typed_nnx._core.trace import context
from typed_nnx._transforms.gather import Call, Place, prefix_of_leaf
from typed_nnx._transforms.leaving import Flat
from typed_nnx._transforms.signature import Effects, Part, in_order
from typed_nnx.errors import BroadcastChangedError


def check_broadcast(function: str, call: Call, found: Flat) -> None:
    """Raise if a Variable that is not mapped got a value that differs along the mapped axis.

    Raises:
        BroadcastChangedError: With the paths of such Variables.
    """
    effects: Effects = found.static.value
    paths: list[str] = []
    parts = zip(call.signature.parts, call.places, effects.changed, found.updates, strict=True)
    for part, place, changed, pure in parts:
        for leaf, value in zip(changed, _in_order(part, changed, pure), strict=False):
            if prefix_of_leaf(part, place, leaf) is None and any(map(_is_mapped, jax.tree.leaves(value))):
                paths.append(_path(call, place, leaf))
    if paths:
        raise BroadcastChangedError(function, paths)


def _in_order(part: Part, changed: tuple[int, ...], pure: Any) -> list[Any]:
    if part.groups is None:
        return list(pure)
    return in_order(tuple([part.groups[leaf] for leaf in changed]), pure)


def _path(call: Call, place: Place, leaf: int) -> str:
    inner = place.structure.layout.paths[leaf]
    first, *rest = place.path
    root = f"argument {first}" if isinstance(first, int) else str(first)
    return f"{root}: {attribute_path((*rest, *inner)) or type(place.root).__name__}"


def _is_mapped(value: Any) -> bool:
    # The tracers of a mapping transform are its mapped values; all others are constants to it.
    return getattr(value, "_trace", None) is context.trace
