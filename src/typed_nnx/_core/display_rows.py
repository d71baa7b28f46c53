"""What an object yields to be shown: a header and rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import jax


@dataclass(slots=True)
class Size:
    """Elements and bytes of some arrays."""

    elements: int = 0
    bytes: int = 0

    def add(self, other: Size) -> None:
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


def _leaves(value: object) -> list[Any]:
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
        parts.append(f"Total: {size_text(total_of(counts))}")
    return ", ".join(parts)


def total_of(counts: Counts) -> Size:
    """Return how much there is of all types."""
    total = Size()
    for size in counts.values():
        total.add(size)
    return total


def counted_as(kind: type) -> type:
    """Return the base under whose name a Variable type is counted.

    A class with ``__nnx_counts_subclasses__ = True`` in its body stands for its subclasses: keys
    and counts of random streams are both "RngState".
    """
    for base in kind.__mro__:
        if base.__dict__.get("__nnx_counts_subclasses__", False):
            return base
    return kind


class Style(IntEnum):
    """How a value is written; a larger style includes the smaller ones."""

    PLAIN = 0
    """As Python writes it."""
    TREE = 1
    """Dicts in the key order of jax pytrees."""
    SHORT = 2
    """Arrays of more than one element by shape and dtype."""


@dataclass(frozen=True, slots=True)
class ObjectHeader:
    """What stands before and after the rows of an object.

    Attributes:
        type: the type, or the text that stands for it.
        start: opens the rows.
        end: closes them.
        separator: stands between the key and the value of a row.
        comment: follows ``start``, after a ``#``; a function, for counting does not need it.
        show_once: later occurrences in the same text become ``Foo(...)``.
        quote_keys: keys are written by their ``repr``.
        is_tree: the rows are in jax's key order where values are written in a tree style.
        count: tells a counter what the object holds.
    """

    type: type | str
    start: str = "("
    end: str = ")"
    separator: str = "="
    comment: Callable[[], str] | None = None
    show_once: bool = False
    quote_keys: bool = False
    is_tree: bool = False
    count: Callable[[Counter], None] | None = None

    @property
    def name(self) -> str:
        """The text of the type."""
        return self.type if isinstance(self.type, str) else self.type.__name__


@dataclass(frozen=True, slots=True)
class Attribute:
    """One row of an object.

    Attributes:
        key: stands before the value; None in a sequence.
        value: what the row shows.
        style: how the value is written.
        inherits_style: the value is written at least in the style of the object itself.
        start: opens the row.
        end: closes it.
        short_value: if not None, what the row shows in the short style.
    """

    key: Any
    value: Any
    style: Style = Style.PLAIN
    inherits_style: bool = False
    start: str = ""
    end: str = ""
    short_value: Any = None


# The renderer that treescope passes and the parts that it gets are types of treescope: Any.


def render_rows(
    value: object, header: ObjectHeader, rows: list[Attribute], path: str | None, renderer: Any
) -> Any:
    """Render an object from its rows: as a constructor call, a wrapped dict or a wrapped list."""
    from treescope import repr_lib

    kind, values = type(value), [row.value for row in rows]
    if header.start == "([":
        return repr_lib.render_list_wrapper(kind, values, path, renderer)
    entries = dict(zip([row.key for row in rows], values, strict=True))
    if header.start == "({":
        return repr_lib.render_dictionary_wrapper(kind, entries, path, renderer)
    return _constructor(value, header, entries, path, renderer)


def _constructor(
    value: object, header: ObjectHeader, entries: dict[str, Any], path: str | None, renderer: Any
) -> Any:
    """Render ``Foo(name=value, ...)``, coloured by its type, with the comment when expanded."""
    from treescope import formatting_util, rendering_parts

    comment = header.comment() if header.comment else ""
    note = rendering_parts.comment_color(rendering_parts.text(f" # {comment}")) if comment else None
    children = [
        rendering_parts.siblings_with_annotations(
            f"{name}=", renderer(child, path=None if path is None else f"{path}.{name}")
        )
        for name, child in entries.items()
    ]
    name = rendering_parts.maybe_qualified_type_name(type(value))
    return rendering_parts.build_foldable_tree_node_from_children(
        prefix=rendering_parts.siblings(name, header.start),
        children=children,
        suffix=header.end,
        comma_separated=True,
        path=path,
        background_color=formatting_util.color_from_string(type(value).__qualname__),
        first_line_annotation=note,
    )
