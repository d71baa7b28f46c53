"""Counts of elements and bytes per Variable type: the ``# Param: 12 (48 B)`` of a repr."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import jax


@dataclass(slots=True)
class Size:
    """Elements and bytes of some arrays."""

    elements: int = 0
    bytes: int = 0

    def add(self, other: Size) -> None:
        """Add another size to this one."""
        self.elements += other.elements
        self.bytes += other.bytes


Counts = dict[type, Size]


class Countable:
    """An object that takes part in counting."""

    __slots__ = ()

    def __nnx_count__(self, counter: Counter, /) -> None:
        """Tell ``counter`` what the object holds: itself as a Variable, or its children."""


class Counter:
    """One pass over an object graph that counts each Variable once, where it is first met.

    Attributes are met in sorted order, not in the order in which they are shown; so in
    ``Foo(z=Foo(w=p), a=p)`` the inner ``Foo`` counts nothing.
    """

    def __init__(self) -> None:
        self.of_nodes: dict[int, Counts] = {}
        self._visited: dict[int, object] = {}  # kept, so that an id stays that of its object
        self._current: Counts = {}

    def variable(self, variable: object, raw_value: object) -> None:
        """Count the arrays in the value of a Variable."""
        size = size_of(raw_value)
        if size.elements:
            self._current.setdefault(counted_as(type(variable)), Size()).add(size)

    def node(self, node: object, children: Iterable[Any]) -> None:
        """Count the children of a node and note their sum as the node's own."""
        outer, self._current = self._current, {}
        self.children(children)
        own, self._current = self._current, outer
        self.of_nodes[id(node)] = own
        for kind, size in own.items():
            outer.setdefault(kind, Size()).add(size)

    def children(self, children: Iterable[Any]) -> None:
        """Count what a container holds."""
        for child in children:
            self.visit(child)

    def visit(self, value: Any) -> None:
        """Count one value: an object of ours, a plain container or a registered jax pytree."""
        if isinstance(value, str | int | float | type) or value is None:
            return
        if id(value) in self._visited:
            return
        self._visited[id(value)] = value
        if isinstance(value, Countable):
            value.__nnx_count__(self)
        elif isinstance(value, list | tuple):
            self.children(value)
        elif isinstance(value, dict):
            self.children(value[key] for key in sorted_keys(value))
        elif not jax.tree_util.all_leaves([value]):
            self.children(_leaves(value))


def sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    """Return the keys in jax's order, or as they are where they cannot be sorted."""
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)


def size_of(value: object) -> Size:
    """Return the size of all arrays, concrete or abstract, in a pytree."""
    arrays = _Arrays()
    arrays.visit(value)
    return arrays.size


class _Arrays(Counter):
    """Adds up all arrays below a value, each as often as jax would list it; cycles end."""

    def __init__(self) -> None:
        super().__init__()
        self.size = Size()
        self._path: set[int] = set()

    def variable(self, variable: object, raw_value: object) -> None:
        self.visit(raw_value)

    def node(self, node: object, children: Iterable[Any]) -> None:
        self.children(children)

    def visit(self, value: Any) -> None:
        for leaf in _leaves(value):
            if isinstance(leaf, Countable):
                if id(leaf) not in self._path:
                    self._path.add(id(leaf))
                    leaf.__nnx_count__(self)
                    self._path.discard(id(leaf))
            elif hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
                elements = math.prod(leaf.shape)
                self.size.add(Size(elements, elements * leaf.dtype.itemsize))


def _leaves(value: Any) -> list[Any]:
    """Return the leaves of a pytree, objects of ours among them."""
    try:
        return jax.tree.leaves(value, is_leaf=lambda x: isinstance(x, Countable))
    except ValueError:  # a dict with keys that do not sort is no pytree
        children = value.values() if isinstance(value, dict) else ()
        return [leaf for child in children for leaf in _leaves(child)]


def size_text(size: Size) -> str:
    """Write a size as ``1,024 (4.1 KB)``.

    >>> size_text(Size(1_024, 4_096))
    '1,024 (4.1 KB)'
    """
    number: float = size.bytes
    unit = "B"
    for larger in ("KB", "MB", "GB"):
        if number <= 1000:
            break
        number, unit = number / 1000, larger
    amount = f"{size.bytes:,}" if unit == "B" else f"{number:,.1f}"
    return f"{size.elements:,} ({amount} {unit})"


def counts_text(counts: Counts) -> str:
    """Write counts as ``Param: 6 (24 B), BatchStat: 2 (8 B), Total: 8 (32 B)``."""
    parts = [f"{kind.__name__}: {size_text(size)}" for kind, size in counts.items()]
    if len(counts) > 1:
        total = Size()
        for size in counts.values():
            total.add(size)
        parts.append(f"Total: {size_text(total)}")
    return ", ".join(parts)


def counted_as(kind: type) -> type:
    """Return the base under whose name a Variable type is counted.

    A class with ``__nnx_counts_subclasses__ = True`` in its body stands for its subclasses: keys
    and counts of random streams are both "RngState".
    """
    for base in kind.__mro__:
        if base.__dict__.get("__nnx_counts_subclasses__", False):
            return base
    return kind
