"""A walk over object graphs that shares nothing with the traversal of the library: slow and plain."""

from __future__ import annotations

import dataclasses
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np

import typed_nnx as nnx
from tests.graph.worlds import Keyless

Path = tuple[tp.Any, ...]
BOOKKEEPING = frozenset({"hijax", "ref", "eager_sharding"})
"""Metadata in which flax keeps how a Variable is backed; not part of what a user wrote."""
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


def children(x: tp.Any) -> list[tuple[tp.Any, tp.Any]] | None:
    """Return the (key, child) pairs of a node or container in canonical order; None for a leaf."""
    if is_node(x):
        name = type(x).__name__
        if name == "List":
            return list(enumerate(x))
        public = {k: v for k, v in vars(x).items() if not k.startswith("_")}
        return sorted(public.items())
    if isinstance(x, dict | nnx.State):
        return sorted(x.items())
    if isinstance(x, tuple) and (fields := getattr(x, "_fields", None)):
        return list(zip(fields, x, strict=True))
    if isinstance(x, list | tuple):
        return list(enumerate(x))
    if isinstance(x, Keyless):
        return [(0, x.first), (1, x.second)]
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return [(f.name, getattr(x, f.name)) for f in dataclasses.fields(x)]
    return None


def is_data(x: tp.Any) -> bool:
    """Whether a value that a node or a container holds is part of the graph."""
    if isinstance(x, list | tuple | dict):
        return MARK in x
    return is_variable(x) or is_node(x) or is_array(x) or isinstance(x, nnx.State)


def in_graph(holder: tp.Any, value: tp.Any) -> bool:
    """Whether a child is part of the graph: in containers, containers of plain values are too."""
    if is_data(value):
        return True
    return not is_node(holder) and (value is None or isinstance(value, list | tuple | dict))


Visit = tuple[Path, tp.Any, bool]


def traverse(
    root: tp.Any, below: tp.Callable[[tp.Any], tp.Iterable[tuple[tp.Any, tp.Any]] | None]
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
            for key, value in below(x) or ():
                yield from visit((*path, key), value)

    return visit((), root)


def visits(root: tp.Any) -> list[Visit]:
    """Return what a graph holds, in the order of `traverse`."""

    def below(x: tp.Any) -> list[tuple[tp.Any, tp.Any]]:
        return [row for row in children(x) or () if in_graph(x, row[1])]

    return list(traverse(root, below))


def leaves(root: tp.Any) -> list[tuple[Path, tp.Any]]:
    """Return (path, leaf) of the Variables and arrays, each Variable once."""
    return [(p, x) for p, x, first in visits(root) if first and (is_variable(x) or is_array(x))]


def array_view(x: tp.Any) -> tp.Any:
    """Describe an array: library, dtype, shape, weak type and contents."""
    if not isinstance(x, jax.Array):
        return ("numpy", str(x.dtype), x.shape, x.tolist())
    if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
        return ("key", str(x.dtype), x.shape, np.asarray(jax.random.key_data(x)).tolist())
    return ("jax", str(x.dtype), x.shape, x.weak_type, np.asarray(x).tolist())


def value_view(x: tp.Any) -> tp.Any:
    """Describe any value that is no node: Variables, arrays, containers, plain Python values."""
    if is_variable(x):
        kept = {k: v for k, v in x.get_metadata().items() if k not in BOOKKEEPING}
        return ("variable", type(x).__name__, kept, value_view(x.get_raw_value()))
    if isinstance(x, jax.Array | np.ndarray):
        return array_view(x)
    if isinstance(x, dict):
        return ("dict", [(key, value_view(x[key])) for key in x])
    if isinstance(x, list | tuple):
        return (type(x).__name__, [value_view(item) for item in x])
    return (type(x).__name__, repr(x) if callable(x) or is_node(x) else x)


def walk(root: tp.Any, values: bool = True) -> list[tuple[tuple[tp.Any, ...], str, tp.Any]]:
    """Traverse an object graph without the library under test: the independent reference.

    Args:
        root: Where to begin.
        values: Whether to describe arrays and Variables.

    Returns:
        (path, kind, view) depth first; a Variable or node met again is ("ref", path of the first visit),
        so two equal lists mean equal structure, equal values and equal identity partitions.
    """
    firsts: dict[int, tuple[tp.Any, ...]] = {}
    entries: list[tuple[tuple[tp.Any, ...], str, tp.Any]] = []
    for path, x, first in traverse(root, children):
        if not first:
            entries.append((path, "ref", firsts[id(x)]))
            continue
        firsts[id(x)] = path
        is_named_only = children(x) is not None or (not values and (is_variable(x) or is_array(x)))
        entries.append(
            (path, "node", type(x).__name__) if is_named_only else (path, "leaf", value_view(x))
        )
    return entries


def objects_by_path(root: tp.Any) -> dict[tuple[tp.Any, ...], tp.Any]:
    """Return path -> object for every node, Variable and array of an object graph (first visits only)."""
    return {
        path: x
        for path, x, first in traverse(root, children)
        if first and (is_node(x) or is_variable(x) or is_array(x))
    }


def mutable_parts(root: tp.Any) -> set[int]:
    """Return the ids of everything that could be changed in place: nodes, Variables, containers."""
    found: set[int] = set()

    def inside(x: tp.Any) -> None:
        if isinstance(x, list | dict):
            found.add(id(x))
        for _, child in children(x) or ():
            inside(child)

    for _, x, _ in visits(root):
        if is_variable(x):
            found.add(id(x))
            inside(x.get_raw_value())
        elif is_node(x) or isinstance(x, list | dict):
            found.add(id(x))
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
    return np.asarray(leaf + 1) if isinstance(leaf, np.ndarray) else leaf + 1


def changed_state(root: tp.Any) -> tp.Any:
    """Return a State with other values at all paths, made from the slow walk."""
    return nnx.from_flat_state([(p, changed_leaf(x)) for p, x in leaves(root)])
