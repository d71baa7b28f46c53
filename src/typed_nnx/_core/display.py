"""The rows of each kind of NNX object, read from its public surface.

The rows say how an object is written, counted (``# Param: 12 (48 B)``) and shown in a notebook. A
class inherits from the display of its kind, or from `Representable` and yields rows of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol

import jax

from typed_nnx._core.display_counts import Counter, counts_text, size_of, size_text, sorted_keys
from typed_nnx._core.display_renderer import Representable as Representable
from typed_nnx._core.display_renderer import counts_of as counts_of
from typed_nnx._core.display_renderer import render as render
from typed_nnx._core.display_rows import Attribute as Attribute
from typed_nnx._core.display_rows import ObjectHeader as ObjectHeader
from typed_nnx._core.display_rows import Style as Style

Rows = Iterator[ObjectHeader | Attribute]

# Metadata that every Variable has; shown only where it is not the default.
_DEFAULT_METADATA: Mapping[str, bool] = {"hijax": False, "ref": False, "eager_sharding": True}


class _Variable(Protocol):
    """What is read of a Variable."""

    def get_value(self) -> Any:
        """Return its value."""
        ...

    def get_raw_value(self) -> Any:
        """Return its value as it is stored."""
        ...

    def get_metadata(self) -> Mapping[str, Any]:
        """Return its metadata."""
        ...


class _Node(Protocol):
    """What is read of a Pytree."""

    _nnx_status: dict[str, bool]  # by attribute name: data, else static


class _Elements(Protocol):
    """What is read of a List."""

    def __iter__(self) -> Iterator[Any]: ...


class _Entries(Protocol):
    """What is read of a Dict or State."""

    def items(self) -> Iterable[tuple[Any, Any]]:
        """Return its entries."""
        ...


def variable_items(variable: _Variable) -> Rows:
    """Yield the value of a Variable, then the metadata that has not its default value."""
    raw_value = variable.get_raw_value()
    yield ObjectHeader(
        type(variable),
        comment=partial(_variable_comment, raw_value),
        count=lambda counter: counter.variable(variable, raw_value),
    )
    reference = raw_value if isinstance(raw_value, jax.Ref) and raw_value.size > 1 else None
    yield Attribute(
        "value", variable.get_value(), Style.TREE, inherits_style=True, short_value=reference
    )
    for name, value in variable.get_metadata().items():
        if name not in _DEFAULT_METADATA or value is not _DEFAULT_METADATA[name]:
            yield Attribute(name, value)


def _variable_comment(raw_value: object) -> str:
    size = size_of(raw_value)
    return size_text(size) if size.elements else ""


def pytree_items(node: object, attributes: Mapping[str, Any] | None = None) -> Rows:
    """Yield the attributes of a Pytree or Module, which is shown once in each text.

    Args:
        node: the object.
        attributes: what to show; None for the attributes without a leading underscore.
    """
    everything = vars(node)
    yield ObjectHeader(
        type(node),
        comment=lambda: counts_text(counts_of(node)),
        show_once=True,
        count=lambda counter: counter.node(node, (everything[key] for key in sorted(everything))),
    )
    if attributes is None:
        attributes = {key: value for key, value in everything.items() if not key.startswith("_")}
    for name, value in attributes.items():
        yield Attribute(name, value, Style.SHORT)


def sequence_items(name: type | str, elements: Iterable[Any]) -> Rows:
    """Yield the elements of a List: ``List([...])``."""
    yield ObjectHeader(name, "([", "])", count=lambda counter: counter.children(elements))
    for value in elements:
        yield Attribute(None, value)


def dict_items(name: type | str, mapping: Mapping[Any, Any]) -> Rows:
    """Yield the entries of a Dict: ``Dict({...})``."""
    yield _mapping_header(name, mapping)
    for key, value in mapping.items():
        yield Attribute(key, value)


def mapping_items(name: type | str, mapping: Mapping[Any, Any]) -> Rows:
    """Yield the entries of a State, ``State({...})``; what is nested in it is ``{...}``.

    Args:
        name: the type of the State; an empty text for what is nested.
        mapping: its entries.
    """
    yield _mapping_header(name, mapping, is_tree=True)
    for key, value in mapping.items():
        inner = value.raw_mapping if isinstance(value, StateDisplay) else value
        nested = NestedMapping(inner) if isinstance(inner, dict) else value
        yield Attribute(key, nested, inherits_style=True)


def pair_items(name: type | str, pairs: Iterable[tuple[Any, Any]]) -> Rows:
    """Yield the pairs of a FlatState: ``FlatState([(path, leaf), ...])``."""
    yield ObjectHeader(name, "([", "])", ", ", quote_keys=True)
    for key, value in pairs:
        yield Attribute(key, value, start="(", end=")")


class VariableDisplay(Representable):
    """Shows a Variable: ``Param( # 6 (24 B)``, the value and the metadata."""

    __slots__ = ()

    def __nnx_repr__(self: _Variable) -> Rows:
        return variable_items(self)


class NodeDisplay(Representable):
    """Shows the attributes of a Pytree or Module, once in each text.

    Private attributes are shown only if they are known to hold data.
    """

    __slots__ = ()

    def __nnx_repr__(self: _Node) -> Rows:
        shown = {
            name: value
            for name, value in vars(self).items()
            if not name.startswith("_") or self._nnx_status.get(name, False)
        }
        return pytree_items(self, shown)


class SequenceDisplay(Representable):
    """Shows a List: ``List([...])``."""

    __slots__ = ()

    def __nnx_repr__(self: _Elements) -> Rows:
        return sequence_items(type(self), self)


class DictDisplay(Representable):
    """Shows a Dict: ``Dict({...})``."""

    __slots__ = ()

    def __nnx_repr__(self: _Entries) -> Rows:
        return dict_items(type(self), dict(self.items()))


class StateDisplay(Representable):
    """Shows a State, ``State({...})``, nested entries as ``{...}``."""

    __slots__ = ()

    @property
    def raw_mapping(self) -> Mapping[Any, Any]:
        """The entries; nested levels are dicts."""
        raise NotImplementedError

    def __nnx_repr__(self) -> Rows:
        return mapping_items(type(self), self.raw_mapping)


class NestedMapping(Representable):
    """A dict inside a State: shown on several lines and without a name."""

    __slots__ = ("mapping",)

    def __init__(self, mapping: Mapping[Any, Any]) -> None:
        self.mapping = mapping

    def __nnx_repr__(self) -> Rows:
        return mapping_items("", self.mapping)

    def __treescope_repr__(self, path: str | None, renderer: Any, /) -> Any:
        return renderer(self.mapping, path=path)


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
