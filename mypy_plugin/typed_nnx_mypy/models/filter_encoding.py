"""Filters as types, so that they travel with the types of States and into mypy's cache."""

from __future__ import annotations

from typing import Final

from mypy.types import Instance, LiteralType, ProperType, TupleType, Type, get_proper_type

from typed_nnx_mypy.models.filters import (
    AllOf,
    AnyOf,
    Everything,
    Filter,
    Negation,
    Nothing,
    OfType,
    PathContains,
    PathIn,
    Unknown,
    WithTag,
)

_NAMED: Final[dict[str, Filter]] = {"...": Everything(), "none": Nothing(), "unknown": Unknown()}


def encode(of: Filter, base: Instance) -> ProperType:
    """Return a filter as a type: a class as itself, all else in literals and tuples.

    Args:
      of: The filter.
      base: The type of `object`.
    """

    def word(value: str | int | bool) -> ProperType:
        return LiteralType(value, base)

    def row(*items: ProperType) -> ProperType:
        return TupleType(list(items), base)

    match of:
        case Everything():
            return word("...")
        case Nothing():
            return word("none")
        case Unknown():
            return word("unknown")
        case OfType():
            return of.type
        case WithTag():
            return row(word("tag"), word(of.tag))
        case PathContains():
            return row(word("contains"), word(of.key), word(of.exact))
        case PathIn():
            return row(word("in"), *(row(*map(word, path)) for path in of.paths))
        case AnyOf() | AllOf():
            name = "any" if isinstance(of, AnyOf) else "all"
            return row(word(name), *(encode(each, base) for each in of.filters))
        case Negation():
            return row(word("not"), encode(of.filter, base))


def decode(found: Type) -> Filter:
    """Return the filter that a type stands for."""
    match get_proper_type(found):
        case Instance() as of_class:
            return OfType(of_class)
        case LiteralType(value=str(name)):
            return _NAMED.get(name, Unknown())
        case TupleType() as row:
            word, *rest = map(get_proper_type, row.items)
            return _decoded(str(_value(word)), rest)
        case _:
            return Unknown()


def _decoded(name: str, rest: list[ProperType]) -> Filter:
    match name:
        case "tag":
            return WithTag(str(_value(rest[0])))
        case "contains":
            return PathContains(_value(rest[0]), bool(_value(rest[1])))
        case "in":
            return PathIn(tuple(_path(each) for each in rest))
        case "any":
            return AnyOf(tuple(map(decode, rest)))
        case "all":
            return AllOf(tuple(map(decode, rest)))
        case _:
            return Negation(decode(rest[0]))


def _path(found: ProperType) -> tuple[str | int, ...]:
    items = found.items if isinstance(found, TupleType) else []
    return tuple(_value(get_proper_type(each)) for each in items)


def _value(found: ProperType) -> str | int:
    value = found.value if isinstance(found, LiteralType) else ""
    return value if isinstance(value, str | int) else ""
