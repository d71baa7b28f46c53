"""What types carry in entries that no annotation can name: filters, models, positions.

Entries go wherever the type goes: through variables, containers, generic functions and mypy's cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Final, TypeAlias, cast

from mypy import types
from mypy.types import Instance, LiteralType, ProperType, TupleType, Type, get_proper_type

from typed_nnx_mypy.models import filters
from typed_nnx_mypy.models.filters import Filter, Unknown

FILTER: Final = "__nnx_filter__"
"""The entry of a type that holds a filter."""

_Part: TypeAlias = "Filter | Instance | str | int | tuple[_Part, ...]"
_ROW: Final = "()"


def with_entries(like: Instance, entries: Mapping[str, Type | Filter | str | int]) -> Instance:
    """Return a type of the same class and arguments with other entries."""
    found, base = Instance(like.type, like.args, like.line, like.column), like.type.mro[-1]
    said = {
        name: each if isinstance(each, Type) else _encoded(each, Instance(base, []))
        for name, each in entries.items()
    }
    found.extra_attrs = types.ExtraAttrs(said, None, None)
    return found


def entries_of(found: Type | None) -> Mapping[str, Type]:
    """Return the entries of a type."""
    proper = get_proper_type(found)
    extra = proper.extra_attrs if isinstance(proper, Instance) else None
    return extra.attrs if extra is not None else {}


def encode(of: Filter, base: Instance) -> ProperType:
    """Return a filter as a type: a row of the name of its class and what it consists of."""
    return _encoded(of, base)


def _encoded(part: _Part, base: Instance) -> ProperType:
    match part:
        case Instance():
            return part
        case str() | int():
            return LiteralType(part, base)
        case tuple():
            name, parts = _ROW, part
        case _:
            name, parts = type(part).__name__, tuple(getattr(part, f.name) for f in fields(part))
    return TupleType([LiteralType(name, base), *(_encoded(each, base) for each in parts)], base)


def decode(found: Type) -> Filter:
    """Return the filter that a type stands for."""
    proper = get_proper_type(found)
    return cast("Filter", _decoded(proper)) if isinstance(proper, TupleType) else Unknown()


def _decoded(found: ProperType) -> _Part:
    match found:
        case TupleType():
            name, *parts = [_decoded(get_proper_type(each)) for each in found.items]
            made = tuple(parts) if name == _ROW else getattr(filters, str(name))(*parts)
            return cast("_Part", made)
        case LiteralType(value=str() | int() as value):
            return value
        case _:
            assert isinstance(found, Instance)
            return found
