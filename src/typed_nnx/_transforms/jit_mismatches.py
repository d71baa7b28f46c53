"""What differs between a call and the one that a function was compiled for, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax

from typed_nnx._transforms.callables import Parameters
from typed_nnx._transforms.places import place_name
from typed_nnx._transforms.signature import Argument, Part, Signature
from typed_nnx._transforms.stand_ins import StandIns
from typed_nnx._transforms.structure_changes import differences


def structural(names: Parameters, before: Signature, after: Signature) -> list[str]:
    """Return what differs between the objects of two calls, a line for each place.

    Args:
        names: Those of the function's parameters.
        before: What is static about the first call.
        after: The same of the other.
    """
    lines: list[str] = []
    for place, old, new in _pairs(names, before, after):
        lines.extend(_argument(place, old, new))
    if not lines and before.key != after.key:
        lines.append("other objects are shared between the arguments")
    return lines


def _pairs(
    names: Parameters, before: Signature, after: Signature
) -> Iterator[tuple[str, Any, Any]]:
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
                found = differences(one.graphdef, other.graphdef)
                joints = ["" if line.startswith((".", "[")) else ": " for line in found]
                lines.extend(
                    [place + joint + line for joint, line in zip(joints, found, strict=True)]
                )
        elif type(one) is not type(other):
            lines.append(f"{place}: it shares objects with other arguments in one call only")
    return lines


def _kind(argument: Argument | None) -> str:
    if argument is None:
        return "plain values"
    part = argument.parts[0]
    return "an object" if not isinstance(part, Part) else _class(part)


def _class(part: Part) -> str:
    item: Any = part.graphdef.items[0]
    return f"a {item.cls.__name__}" if hasattr(item, "cls") else "an object"


Pure = tuple[Sequence[Any], Mapping[str, Any], Sequence[Any]]
"""Positional arguments, keyword arguments and captured objects, as plain values."""


def types(names: Parameters, signature: Signature, avals: Pure, given: Pure) -> list[str]:
    """Return what differs between the types of values, a line for each place.

    Args:
        names: Those of the function's parameters.
        signature: What is static about both calls.
        avals: The types of the first call.
        given: The values of the other.
    """
    before = StandIns(signature).arguments(*avals)
    after = StandIns(signature).arguments(*given)
    changed = _trees(names, before, after)
    if changed:
        return changed
    old = jax.tree_util.tree_leaves_with_path(before)
    lines = []
    for (path, aval), value in zip(old, jax.tree.leaves(after), strict=True):
        known, found = _type(aval), _type(value)
        if known != found:
            key = path[1].key if path[0].idx else names[path[1].idx]
            place = place_name((key,)) + jax.tree_util.keystr(path[2:])
            lines.append(f"{place}: {known} before, {found} now")
    return lines


def _trees(names: Parameters, before: Any, after: Any) -> list[str]:
    """Return what differs between the structures of arguments."""
    (args, kwargs), (others, keywords) = before, after
    if kwargs.keys() != keywords.keys():
        return [f"keyword arguments: {list(kwargs)} before, {list(keywords)} now"]
    pairs = [
        (place_name((names[number],)), *both)
        for number, both in enumerate(zip(args, others, strict=True))
    ]
    pairs.extend([(name, kwargs[name], keywords[name]) for name in kwargs])
    trees: list[tuple[str, Any, Any]] = [
        (place, jax.tree.structure(old), jax.tree.structure(new)) for place, old, new in pairs
    ]
    return [f"{place}: {old} before, {new} now" for place, old, new in trees if old != new]


def _type(value: Any) -> str:
    try:
        aval = value if hasattr(value, "dtype") else jax.typeof(value)
    except TypeError:
        return type(value).__name__
    return f"{aval.dtype}{list(aval.shape)}"
