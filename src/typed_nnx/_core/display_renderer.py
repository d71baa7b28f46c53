"""The text of NNX objects: what ``repr``, ``str`` and ``print`` show.

An object yields a header and rows (``__nnx_repr__``); one renderer makes the text. Rendering an
object that holds others is one pass, also through the reprs of foreign objects in between: below
the outermost node a shared module or a cycle is shown once and then as ``Foo(...)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import jax
import numpy as np

from typed_nnx._core.display_counts import Countable, Counter, Counts, sorted_keys
from typed_nnx._core.display_rows import Attribute, ObjectHeader, Style
from typed_nnx._core.treescope_display import render_rows


class Representable(Countable):
    """An object whose ``repr`` and ``str`` are made of the rows of ``__nnx_repr__``."""

    __slots__ = ()

    def __nnx_repr__(self) -> Iterator[ObjectHeader | Attribute]:
        """Yield one header, then one attribute for each row."""
        raise NotImplementedError

    def __nnx_count__(self, counter: Counter, /) -> None:
        count = header_of(self.__nnx_repr__()).count
        if count is not None:
            count(counter)

    def __repr__(self) -> str:
        return render(self)

    def __str__(self) -> str:
        return render(self)

    def __treescope_repr__(self, path: str | None, renderer: Any, /) -> Any:
        rows = self.__nnx_repr__()
        header = header_of(rows)
        attributes = [row for row in rows if isinstance(row, Attribute)]
        return render_rows(self, header, attributes, path, renderer)


def header_of(rows: Iterator[ObjectHeader | Attribute]) -> ObjectHeader:
    """Take the header from the rows of an object."""
    header = next(rows)
    if not isinstance(header, ObjectHeader):
        raise TypeError(f"__nnx_repr__ must yield an ObjectHeader first, got {header!r}")
    return header


class _Written:
    """A text in the place of a value, so that a foreign ``repr`` shows it as it is."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


class _Rendering:
    """The state of one text under way: nodes shown, objects being shown, counts."""

    __slots__ = ("_counters", "_path", "_shown")

    def __init__(self) -> None:
        self._shown: dict[int, object] = {}
        self._path: set[int] = set()
        self._counters: list[Counter] = []

    def counts_of(self, node: object) -> Counts:
        """Return the counts of a node; the first call counts everything below it."""
        for counter in self._counters:
            if id(node) in counter.of_nodes:
                return counter.of_nodes[id(node)]
        counter = Counter()
        counter.visit(node)
        self._counters.append(counter)
        return counter.of_nodes.get(id(node), {})

    def object_text(self, value: Representable, style: Style = Style.PLAIN) -> str:
        """Write an object of ours."""
        rows = value.__nnx_repr__()
        header = header_of(rows)
        if id(value) in self._shown or id(value) in self._path:
            return f"{header.name}{header.start}...{header.end}"
        # Before the rows: what is below this node is counted as seen from the outermost one.
        comment = header.comment() if header.comment else ""
        outermost = header.show_once and not self._shown
        if header.show_once:
            self._shown[id(value)] = value
        self._path.add(id(value))
        try:
            attributes = [row for row in rows if isinstance(row, Attribute)]
            if header.is_tree and style >= Style.TREE:
                by_key = {attribute.key: attribute for attribute in attributes}
                attributes = [by_key[key] for key in sorted_keys(by_key)]
            lines = [self._row_text(header, attribute, style) for attribute in attributes]
        finally:
            self._path.discard(id(value))
            if outermost:
                self._shown.clear()
                self._counters.clear()
        if not lines:
            return f"{header.name}{header.start}{header.end}"
        start = f"{header.start} # {comment}" if comment else header.start
        body = ",\n  ".join(lines)
        return f"{header.name}{start}\n  {body}\n{header.end}"

    def _row_text(self, header: ObjectHeader, row: Attribute, outer: Style) -> str:
        style = max(row.style, outer) if row.inherits_style else row.style
        key = repr(row.key) if header.quote_keys else row.key
        key = "" if row.key is None else f"{key}{header.separator}"
        shortened = style is Style.SHORT and row.short_value is not None
        text = self.value_text(row.short_value if shortened else row.value, style)
        return f"{row.start}{key}{text}{row.end}".replace("\n", "\n  ")

    def value_text(self, value: Any, style: Style) -> str:
        """Write any value."""
        if isinstance(value, Representable):
            return self.object_text(value, style)
        if isinstance(value, type):
            return value.__name__
        if isinstance(value, str):
            return repr(value)
        if isinstance(value, int | float):
            return str(value)
        if isinstance(value, list | tuple | dict) or (isinstance(value, set) and value):
            return self._container_text(value, style)
        if isinstance(value, jax.Array | np.ndarray | jax.Ref):
            return _array_text(value, style)
        if style is Style.SHORT and not jax.tree_util.all_leaves([value]):
            return self._pytree_text(value)
        return repr(value)

    def _container_text(self, value: Any, style: Style) -> str:
        start, end = _brackets(value)
        if id(value) in self._path:
            return f"{start}...{end}"
        self._path.add(id(value))
        try:
            if isinstance(value, dict):
                as_jax_does = style >= Style.TREE and type(value) is dict
                keys = sorted_keys(value) if as_jax_does else list(value)
                items = [f"{key!r}: {self.value_text(value[key], style)}" for key in keys]
            else:
                items = [self.value_text(item, style) for item in value]
        finally:
            self._path.discard(id(value))
        trailing = "," if isinstance(value, tuple) and len(items) == 1 else ""
        return f"{start}{', '.join(items)}{trailing}{end}"

    def _pytree_text(self, value: Any) -> str:
        """Write a registered pytree by its own repr, its leaves in the short style."""

        def write(leaf: Any) -> _Written:
            return _Written(self.value_text(leaf, Style.SHORT))

        try:
            written = jax.tree.map(write, value, is_leaf=lambda x: isinstance(x, Representable))
            return repr(written)
        except Exception:  # noqa: BLE001  # a class may refuse leaves that are no arrays
            return repr(value)


def render(value: Representable) -> str:
    """Return the text of an object, as part of the text under way if there is one."""
    active = _active.get()
    if active is not None:
        return active.object_text(value)
    rendering = _Rendering()
    token = _active.set(rendering)
    try:
        return rendering.object_text(value)
    finally:
        _active.reset(token)


def counts_of(node: object) -> Counts:
    """Return the counts per Variable type of a node, once per text under way."""
    return (_active.get() or _Rendering()).counts_of(node)


def _brackets(value: object) -> tuple[str, str]:
    if isinstance(value, list):
        return "[", "]"
    return ("(", ")") if isinstance(value, tuple) else ("{", "}")


def _array_text(value: Any, style: Style) -> str:
    if style is Style.SHORT and value.size > 1:
        name = "ArrayRef" if isinstance(value, jax.Ref) else "Array"
        return f"{name}(shape={value.shape}, dtype={value.dtype!r})"
    try:
        return repr(value)
    except RuntimeError:  # the buffer of a donated or deleted array is gone
        return f"<deleted Array(shape={value.shape}, dtype={value.dtype!r})>"


_active: ContextVar[_Rendering | None] = ContextVar("typed_nnx_rendering", default=None)
