"""A walk over object graphs that shares nothing with the traversal of the library: slow and plain."""

from __future__ import annotations

import typing as tp

import jax
import numpy as np

import typed_nnx as nnx

Path = tuple[tp.Any, ...]
MARK = "data"
"""An element of each plain container that is data: so the walk tells it from a static one."""


def is_variable(x: tp.Any) -> bool:
    """Tell Variables of typed_nnx and of flax without importing either."""
    return hasattr(type(x), "get_raw_value") and hasattr(type(x), "get_metadata")


def is_node(x: tp.Any) -> bool:
    """Tell Pytree, Module, Object, List and Dict objects of both libraries."""
    return any(base.__name__ == "Pytree" for base in type(x).__mro__)


def is_array(x: tp.Any) -> bool:
    return isinstance(x, jax.Array | np.ndarray)


def is_data(x: tp.Any) -> bool:
    """Whether a value that a node or a container holds is part of the graph."""
    if isinstance(x, list | tuple | dict):
        return MARK in x
    return is_variable(x) or is_node(x) or is_array(x) or isinstance(x, nnx.State)


def children(x: tp.Any) -> list[tuple[tp.Any, tp.Any]]:
    """Return the (key, value) pairs of a node or container in order, static values too."""
    if isinstance(x, nnx.List):
        return list(enumerate(x))
    if is_node(x):
        return sorted(x.__dict__.items())
    if isinstance(x, nnx.State):
        return sorted(x._mapping.items()) if hasattr(x, "_mapping") else sorted(x.items())
    if isinstance(x, dict):
        return sorted(x.items())
    return list(enumerate(x)) if isinstance(x, list | tuple) else []


def in_graph(holder: tp.Any, value: tp.Any) -> bool:
    """Whether a child is part of the graph: in containers, containers of plain values are too."""
    if is_data(value):
        return True
    return not is_node(holder) and (value is None or isinstance(value, list | tuple | dict))


Visit = tuple[Path, tp.Any, bool]


def traverse(
    root: tp.Any, below: tp.Callable[[tp.Any], tp.Iterable[tuple[tp.Any, tp.Any]]]
) -> tp.Iterator[Visit]:
    """Yield (path, value, first) of everything, parents first.

    A node or Variable met again has ``first=False`` and is not entered again; all else is entered
    each time.

    Args:
        root: Where to begin.
        below: Returns the (key, value) pairs to go on with.
    """
    seen: set[int] = set()

    def visit(path: Path, x: tp.Any) -> tp.Iterator[Visit]:
        first = id(x) not in seen
        yield path, x, first
        if is_node(x) or is_variable(x):
            seen.add(id(x))
        if first:
            for key, value in below(x):
                yield from visit((*path, key), value)

    return visit((), root)


def visits(root: tp.Any) -> list[Visit]:
    """Return what a graph holds, in the order of `traverse`."""

    def below(x: tp.Any) -> list[tuple[tp.Any, tp.Any]]:
        return [] if is_variable(x) else [row for row in children(x) if in_graph(x, row[1])]

    return list(traverse(root, below))


def leaves(root: tp.Any) -> list[tuple[Path, tp.Any]]:
    """Return (path, leaf) of the Variables and arrays, each Variable once."""
    return [(p, x) for p, x, first in visits(root) if first and (is_variable(x) or is_array(x))]


def view_value(x: tp.Any) -> tp.Any:
    """Describe a value that is no node: arrays by content."""
    if is_array(x):
        return type(x).__name__, str(x.dtype), np.asarray(x).tolist()
    if isinstance(x, list | tuple | dict):
        return type(x).__name__, [(k, view_value(v)) for k, v in children(x)]
    return type(x).__name__, repr(x) if "object at" not in repr(x) else id(x)


def describe(root: tp.Any, values: bool = True) -> list[tp.Any]:
    """Describe a graph as plain values: equal descriptions mean equal graphs, sharing included."""
    first: dict[int, Path] = {}
    entries: list[tp.Any] = []
    for path, x, new in visits(root):
        if not new:
            entries.append((path, "is", first[id(x)]))
            continue
        if is_node(x) or is_variable(x):
            first[id(x)] = path
        kind = type(x).__name__
        if is_variable(x):
            metadata = view_value(dict(sorted(x.get_metadata().items())))
            entries.append((path, kind, metadata, view_value(x.get_raw_value()) if values else ()))
        elif is_array(x):
            entries.append((path, view_value(x) if values else "array"))
        else:
            statics = [(k, view_value(v)) for k, v in children(x) if not in_graph(x, v)]
            inside = [k for k, v in children(x) if in_graph(x, v)]
            entries.append((path, kind, statics, inside))
    return entries


def mutable_parts(root: tp.Any) -> set[int]:
    """Return the ids of everything that could be changed in place: nodes, Variables, containers."""
    found: set[int] = set()

    def inside(x: tp.Any) -> None:
        if isinstance(x, list | dict):
            found.add(id(x))
        for _, child in children(x):
            inside(child)

    for _, x, _ in visits(root):
        if is_node(x) or is_variable(x) or isinstance(x, list | dict):
            found.add(id(x))
        if is_variable(x):
            inside(x.get_raw_value())
    return found


def same(name: str, found: tp.Any, expected: tp.Any) -> None:
    if found != expected:
        rows = [e for e in expected if e not in found] if isinstance(expected, list) else expected
        new = [e for e in found if e not in expected] if isinstance(found, list) else found
        raise AssertionError(f"{name}: expected {str(rows)[:400]}, found {str(new)[:400]}")


def ids(rows: tp.Iterable[tuple[Path, tp.Any]]) -> list[tuple[Path, int]]:
    return sorted(((tuple(map(str, p)), id(x)) for p, x in rows), key=str)


def changed_leaf(leaf: tp.Any) -> tp.Any:
    """Return a leaf with other numbers."""
    if is_variable(leaf):
        return leaf.replace(jax.tree.map(changed_leaf, leaf.get_raw_value()))
    return leaf + 1


def changed_state(root: tp.Any) -> tp.Any:
    """Return a State with other values at all paths, made from the slow walk."""
    return nnx.from_flat_state([(p, changed_leaf(x)) for p, x in leaves(root)])
