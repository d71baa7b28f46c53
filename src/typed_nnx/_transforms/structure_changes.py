"""Differences between the structures of an object before and after a trace, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from typed_nnx._core.nodes import Spec
from typed_nnx._core.paths import Path, attribute_path
from typed_nnx._graph.graphdef import GraphDef, Item, VariableDef
from typed_nnx._graph.traversal import Traversal
from typed_nnx._transforms.signature import Signature
from typed_nnx.errors import StructureChangedError


def check_unchanged(
    function: str, signature: Signature, found: Sequence[Traversal], same: Sequence[bool]
) -> None:
    """Raise if a structure changed in a mode in which it may not.

    Raises:
        StructureChangedError: It names what changed and where.
    """
    if signature.modes[1]:
        return
    for part, traversal, unchanged in zip(signature.parts, found, same, strict=True):
        if not unchanged:
            changes = differences(part.graphdef, traversal.graphdef())
            raise StructureChangedError(function, changes)


def differences(before: GraphDef[Any], after: GraphDef[Any]) -> list[str]:
    """Return what differs between two structures, a line for each place."""
    old, new = dict(_places(before)), dict(_places(after))
    lines = []
    for path in {**old, **new}:
        where = attribute_path(path) or "the object itself"
        if path not in new:
            lines.append(f"{where} was removed ({_describe(old[path])})")
        elif path not in old:
            lines.append(f"{where} was added ({_describe(new[path])})")
        elif not _alike(old[path], new[path]):
            lines.append(f"{where} was {_describe(old[path])}, is {_describe(new[path])}")
    return lines or ["an object was replaced by another of the same structure"]


def _places(graphdef: GraphDef[Any]) -> Iterator[tuple[Path, Any]]:
    """Yield the path and description of everything, static values included."""
    items = iter(graphdef.items)
    paths: dict[int, Path] = {}

    def below(path: Path) -> Iterator[tuple[Path, Any]]:
        position = len(paths) + repeated[0]
        item = next(items)
        if type(item) is int:
            repeated[0] += 1
            yield path, paths.get(item - graphdef.base, item)
            return
        paths[position] = path
        yield path, item
        if isinstance(item, Spec):
            for name, value in item.statics:
                yield (*path, name), (value,)
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


def _describe(item: Item | tuple[Any, ...]) -> str:
    if isinstance(item, Spec):
        return f"a {item.cls.__name__}"
    if isinstance(item, VariableDef):
        metadata = {name: value for name, value in item.meta.items() if name not in _DEFAULTS}
        return f"a {item.cls.__name__}" + (f" with {metadata!r}" if metadata else "")
    if isinstance(item, str):
        return "an array"
    if isinstance(item, int):
        return "a shared object"
    if len(item) == 1:
        return f"the static value {item[0]!r}"
    return f"the same object as {attribute_path(item)}"


_DEFAULTS = ("hijax", "ref", "eager_sharding")
