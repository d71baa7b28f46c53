"""The rows of each kind of NNX object, read from its public surface.

The rows say how an object is written, counted (``# Param: 12 (48 B)``) and shown in a notebook. A
class inherits from the display of its kind, or from `Representable` and yields rows of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, Protocol

import jax
import numpy as np

from typed_nnx._core.display_rows import Attribute as Attribute
from typed_nnx._core.display_rows import (
    Countable,
    Counter,
    Counts,
    counts_text,
    render_rows,
    size_of,
    size_text,
    sorted_keys,
)
from typed_nnx._core.display_rows import ObjectHeader as ObjectHeader
from typed_nnx._core.display_rows import Style as Style
from typed_nnx.errors import ArgumentTypeError


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
    header = next(rows)
    if not isinstance(header, ObjectHeader):
        raise ArgumentTypeError(
            "__nnx_repr__",
            f"it must yield an ObjectHeader first, got {header!r}.",
            "yield nnx.visualization.ObjectHeader(...), then the attributes",
        )
    return header


class _Written:
    """A text in place of a value, so that a foreign ``repr`` shows it as it is."""

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
        is_list, is_tuple = isinstance(value, list), isinstance(value, tuple)
        start, end = ("[", "]") if is_list else ("(", ")") if is_tuple else ("{", "}")
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
        trailing = "," if is_tuple and len(items) == 1 else ""
        return f"{start}{', '.join(items)}{trailing}{end}"

    def _pytree_text(self, value: object) -> str:
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


def _array_text(value: Any, style: Style) -> str:
    if style is Style.SHORT and value.size > 1:
        name = "ArrayRef" if isinstance(value, jax.Ref) else "Array"
        return f"{name}(shape={value.shape}, dtype={value.dtype!r})"
    try:
        return repr(value)
    except RuntimeError:  # the buffer of a donated or deleted array is gone
        return f"<deleted Array(shape={value.shape}, dtype={value.dtype!r})>"


_active: ContextVar[_Rendering | None] = ContextVar("typed_nnx_rendering", default=None)


Rows = Iterator[ObjectHeader | Attribute]

# Metadata that every Variable has; shown only where it is not the default.
_DEFAULT_METADATA: Mapping[str, bool] = {"hijax": False, "ref": False, "eager_sharding": True}


class _Variable(Protocol):
    """What is read of a Variable."""

    def get_value(self) -> Any: ...
    def get_raw_value(self) -> Any: ...
    def get_metadata(self) -> Mapping[str, Any]: ...


class _Node(Protocol):
    """What is read of a Pytree."""

    _nnx_status: dict[str, bool]  # by attribute name: data, else static


class _Entries(Protocol):
    """What is read of a Dict."""

    def items(self) -> Iterable[tuple[Any, Any]]: ...


class VariableDisplay(Representable):
    """Shows a Variable: ``Param( # 6 (24 B)``, the value, then the metadata that is not the default."""

    __slots__ = ()

    def __nnx_repr__(self: _Variable) -> Rows:
        raw_value = self.get_raw_value()

        def comment() -> str:
            size = size_of(raw_value)
            return size_text(size) if size.elements else ""

        yield ObjectHeader(
            type(self), comment=comment, count=lambda counter: counter.variable(self, raw_value)
        )
        reference = raw_value if isinstance(raw_value, jax.Ref) and raw_value.size > 1 else None
        yield Attribute(
            "value", self.get_value(), Style.TREE, inherits_style=True, short_value=reference
        )
        for name, value in self.get_metadata().items():
            if name not in _DEFAULT_METADATA or value is not _DEFAULT_METADATA[name]:
                yield Attribute(name, value)


class NodeDisplay(Representable):
    """Shows the attributes of a Pytree or Module, once in each text.

    Private attributes are shown only if they are known to hold data.
    """

    __slots__ = ()

    def __nnx_repr__(self: _Node) -> Rows:
        attributes = vars(self)
        yield ObjectHeader(
            type(self),
            comment=lambda: counts_text(counts_of(self)),
            show_once=True,
            count=lambda counter: counter.node(self, (attributes[n] for n in sorted(attributes))),
        )
        for name, value in attributes.items():
            if not name.startswith("_") or self._nnx_status.get(name, False):
                yield Attribute(name, value, Style.SHORT)


class SequenceDisplay(Representable):
    """Shows a List: ``List([...])``."""

    __slots__ = ()

    def __nnx_repr__(self: Iterable[Any]) -> Rows:
        yield ObjectHeader(type(self), "([", "])", count=lambda counter: counter.children(self))
        for value in self:
            yield Attribute(None, value)


class DictDisplay(Representable):
    """Shows a Dict: ``Dict({...})``."""

    __slots__ = ()

    def __nnx_repr__(self: _Entries) -> Rows:
        yield _mapping_header(type(self), dict(self.items()))
        for key, value in self.items():
            yield Attribute(key, value)


class PairsDisplay(Representable):
    """Shows a FlatState: ``FlatState([(path, leaf), ...])``."""

    __slots__ = ()

    def __nnx_repr__(self: Iterable[tuple[Any, Any]]) -> Rows:
        yield ObjectHeader(type(self), "([", "])", ", ", quote_keys=True)
        for key, value in self:
            yield Attribute(key, value, start="(", end=")")


class StateDisplay(Representable):
    """Shows a State, ``State({...})``, nested entries as ``{...}``."""

    __slots__ = ()

    @property
    def raw_mapping(self) -> Mapping[Any, Any]:
        """The entries; nested levels are dicts."""
        raise NotImplementedError

    def __nnx_repr__(self) -> Rows:
        return _mapping_items(type(self), self.raw_mapping)


class NestedMapping(Representable):
    """A dict inside a State: shown on several lines and without a name."""

    __slots__ = ("mapping",)

    def __init__(self, mapping: Mapping[Any, Any]) -> None:
        self.mapping = mapping

    def __nnx_repr__(self) -> Rows:
        return _mapping_items("", self.mapping)

    def __treescope_repr__(self, path: str | None, renderer: Any, /) -> Any:
        return renderer(self.mapping, path=path)


def _mapping_items(name: type | str, mapping: Mapping[Any, Any]) -> Rows:
    yield _mapping_header(name, mapping, is_tree=True)
    for key, value in mapping.items():
        inner = value.raw_mapping if isinstance(value, StateDisplay) else value
        nested = NestedMapping(inner) if isinstance(inner, dict) else value
        yield Attribute(key, nested, inherits_style=True)


def _mapping_header(
    name: type | str, mapping: Mapping[Any, Any], is_tree: bool = False
) -> ObjectHeader:
    def count(counter: Counter) -> None:
        counter.children(mapping[key] for key in sorted_keys(mapping))

    return ObjectHeader(
        name,
        "({" if name else "{",
        "})" if name else "}",
        separator=": ",
        quote_keys=True,
        is_tree=is_tree,
        count=count,
    )
