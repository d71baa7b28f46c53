"""Differences between the structures of an object before and after a trace, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from typed_nnx._core.nodes import Spec
from typed_nnx._core.paths import Path, attribute_path
from typed_nnx._graph.graphdef import GraphDef, Item, VariableDef


def differences(before: GraphDef[Any], after: GraphDef[Any], root: str = "") -> list[str]:
    """Return what differs between two structures, a line for each place.

    Args:
        before: The one structure.
        after: The other; its ``outer`` numbers tell which objects were there before.
        root: What the paths begin with.
    """
    old, new = dict(places(before)), dict(places(after))
    lines = []
    for path in {**old, **new}:
        where = f"{root}{attribute_path(path)}" or "the object itself"
        if path not in new:
            lines.append(f"{where} was removed ({_describe(old[path])})")
        elif path not in old:
            lines.append(f"{where} was added ({_describe(new[path])})")
        elif not _alike(old[path], new[path]):
            lines.append(f"{where} was {_describe(old[path])}, is {_describe(new[path])}")
    return lines


def replacements(before: GraphDef[Any], after: GraphDef[Any], root: str = "") -> list[str]:
    """Return where another object of the same structure is, a line for each place.

    Args:
        before: The structure, of which `after` has all the places.
        after: The same structure with the ``outer`` numbers of its objects.
        root: What the paths begin with.
    """
    numbers = after.outer or ()
    first = next((number for number in numbers if number is not None), 0)
    lines = []
    for position, (path, item) in enumerate(places(after, with_statics=False)):
        if position >= len(numbers) or not isinstance(item, Spec | VariableDef):
            continue
        if isinstance(item, Spec) and not item.is_object:
            continue
        if numbers[position] != first + position:
            where = f"{root}{attribute_path(path)}" or "the object itself"
            lines.append(f"{where} was replaced by another {item.cls.__name__}")
    del before
    return lines


def between(
    left: GraphDef[Any], right: GraphDef[Any], root: str, one: str, other: str
) -> list[str]:
    """Return what differs between two structures that exist side by side.

    Args:
        left: The one structure.
        right: The other.
        root: What the paths begin with.
        one: What to call the one.
        other: What to call the other.
    """
    lefts, rights = dict(places(left)), dict(places(right))
    lines = []
    for path in {**lefts, **rights}:
        where = f"{root}{attribute_path(path)}"
        if path not in rights:
            lines.append(f"{where} ({_describe(lefts[path])}) is there after {one} only")
        elif path not in lefts:
            lines.append(f"{where} ({_describe(rights[path])}) is there after {other} only")
        elif not _alike(lefts[path], rights[path]):
            lines.append(
                f"{where} is {_describe(lefts[path])} after {one}, {_describe(rights[path])} after "
                f"{other}"
            )
    if lines:
        return lines
    changed = replacements(left, right, root) or replacements(right, left, root)
    return [f"{line} in one branch only" for line in changed] or [
        f"{root} holds other objects in one branch than in the other"
    ]


def changes_of(before: GraphDef[Any], after: GraphDef[Any], root: str = "") -> list[str]:
    """Return what changed in an object, a line for each place."""
    return (
        differences(before, after, root)
        or replacements(before, after, root)
        or [f"{root or 'an object'} holds other objects than before"]
    )


class StaticValue(NamedTuple):
    """A static value that is an attribute."""

    value: Any


class Same(NamedTuple):
    """Stands for an object that is on another path too."""

    path: Path


def places(graphdef: GraphDef[Any], *, with_statics: bool = True) -> Iterator[tuple[Path, Any]]:
    """Yield the path and description of everything, static values included."""
    items = iter(graphdef.items)
    paths: dict[int, Path] = {}

    def below(path: Path) -> Iterator[tuple[Path, Any]]:
        position = len(paths) + repeated[0]
        item = next(items)
        if type(item) is int:
            repeated[0] += 1
            same = paths.get(item - graphdef.base)
            yield path, item if same is None else Same(same)
            return
        paths[position] = path
        yield path, item
        if isinstance(item, Spec):
            for name, value in item.statics if with_statics else ():
                yield (*path, name), StaticValue(value)
            for key in item.keys:
                yield from below((*path, key))

    repeated = [0]
    yield from below(())


def _alike(left: Any, right: Any) -> bool:
    if isinstance(left, Spec) and isinstance(right, Spec):
        return left.cls is right.cls
    try:
        return type(left) is type(right) and bool(left == right)
    except Exception:  # noqa: BLE001 -- values of users compare as they like
        return False


def _describe(item: Item | Same | StaticValue) -> str:
    if isinstance(item, Spec):
        return f"a {item.cls.__name__}"
    if isinstance(item, VariableDef):
        metadata = {name: value for name, value in item.meta.items() if name not in _DEFAULTS}
        return f"a {item.cls.__name__}" + (f" with {metadata!r}" if metadata else "")
    if isinstance(item, str):
        return "an array"
    if isinstance(item, int):
        return "a shared object"
    if isinstance(item, StaticValue):
        return f"the static value {item.value!r}"
    return f"the same object as {attribute_path(item.path) or 'the whole'}"


_DEFAULTS = ("hijax", "ref", "eager_sharding")
