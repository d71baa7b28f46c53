"""Filters as the plugin knows them, which leaves pass, and how filters travel in types.

Not every filter is known, and not every leaf, so answers have three values: True, False, and None
for "not sure". How filters are read from source is in ``filter_syntax``.

What types carry (filters, models, positions) is in entries that no annotation can name. They go
wherever the type goes: through variables, containers, generic functions and mypy's cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Final, TypeAlias, cast, get_args

from mypy import types
from mypy.nodes import TypeInfo
from mypy.types import Instance, LiteralType, ProperType, TupleType, Type, get_proper_type

from typed_nnx_codegen.facts.kinds import ARRAY, runtime_base

Key: TypeAlias = str | int | None
"""A key of a path; None where it is not known, as the index of a list."""


@dataclass(frozen=True)
class Everything:
    """Takes every leaf: `...`, True and ``Everything()``."""


@dataclass(frozen=True)
class Nothing:
    """Takes no leaf: None, False and ``Nothing()``."""


@dataclass(frozen=True)
class Unknown:
    """A filter that the plugin cannot evaluate, such as a function."""


@dataclass(frozen=True)
class OfType:
    """Takes the values of a class and of its subclasses.

    Attributes:
        type: The class, with Any for its parameters.
    """

    type: Instance


@dataclass(frozen=True)
class WithTag:
    """Takes the values whose metadata has the tag."""

    tag: str


@dataclass(frozen=True)
class PathContains:
    """Takes the values whose path contains a key; without `exact`, a text that contains it."""

    key: str | int
    exact: bool = True


@dataclass(frozen=True)
class PathIn:
    """Takes the values at the given paths."""

    paths: tuple[tuple[str | int, ...], ...]


@dataclass(frozen=True)
class AnyOf:
    """Takes what one of its filters takes."""

    filters: tuple[Filter, ...]


@dataclass(frozen=True)
class AllOf:
    """Takes what all of its filters take."""

    filters: tuple[Filter, ...]


@dataclass(frozen=True)
class Negation:
    """Takes what its filter does not take."""

    filter: Filter


Filter: TypeAlias = (
    Everything
    | Nothing
    | Unknown
    | OfType
    | WithTag
    | PathContains
    | PathIn
    | AnyOf
    | AllOf
    | Negation
)


# -- building ---------------------------------------------------------------------------------


def of_class(info: TypeInfo) -> OfType:
    """Return the filter that a class stands for."""
    arguments: list[Type] = [
        types.AnyType(types.TypeOfAny.special_form) for _ in info.defn.type_vars
    ]
    return OfType(Instance(info, arguments))


def any_of(filters: Iterable[Filter]) -> Filter:
    """Return the filter that takes what one of `filters` takes, in its shortest form."""
    return _joined(AnyOf, filters, Nothing(), Everything())


def all_of(filters: Iterable[Filter]) -> Filter:
    """Return the filter that takes what all of `filters` take, in its shortest form."""
    return _joined(AllOf, filters, Everything(), Nothing())


def _joined(
    kind: type[AnyOf | AllOf], filters: Iterable[Filter], neutral: Filter, decisive: Filter
) -> Filter:
    rows = [each.filters if isinstance(each, kind) else (each,) for each in filters]
    kept = tuple(dict.fromkeys(each for row in rows for each in row if each != neutral))
    if decisive in kept:
        return decisive
    return kept[0] if len(kept) == 1 else kind(kept) if kept else neutral


def negation(of: Filter) -> Filter:
    """Return the filter that takes what another does not take."""
    match of:
        case Everything():
            return Nothing()
        case Nothing():
            return Everything()
        case Unknown():
            return Unknown()
        case Negation():
            return of.filter
        case _:
            return Negation(of)


def in_order(filters: Iterable[Filter]) -> list[Filter]:
    """Return what each of some filters takes where the first that takes a leaf gets it."""
    found: list[Filter] = []
    earlier: list[Filter] = []
    for each in filters:
        left = [before for before in earlier if not _are_apart(before, each)]
        found.append(all_of((each, negation(any_of(left)))))
        earlier.append(each)
    return found


def _are_apart(one: Filter, other: Filter) -> bool:
    """Tell whether two filters are classes of which none is derived from the other."""
    if not (isinstance(one, OfType) and isinstance(other, OfType)):
        return False
    first, second = one.type.type, other.type.type
    return not (first.has_base(second.fullname) or second.has_base(first.fullname))


def below(of: Filter, key: Key, kind: type[str | int] | None = None) -> Filter:
    """Return the filter for paths that are relative to what stands at `key`.

    Args:
      of: The filter.
      key: The key.
      kind: The type of a key that is not known.
    """
    match of:
        case PathContains():
            return _below_key(of, key, kind)
        case PathIn():
            rest = [path[1:] for path in of.paths if path and _may_be(path[0], key, kind)]
            if key is None and rest:
                return Unknown()
            return PathIn(tuple(rest)) if rest else Nothing()
        case AnyOf():
            return any_of(below(each, key, kind) for each in of.filters)
        case AllOf():
            return all_of(below(each, key, kind) for each in of.filters)
        case Negation():
            return negation(below(of.filter, key, kind))
        case _:
            return of


def _may_be(asked: str | int, key: Key, kind: type[str | int] | None) -> bool:
    return (kind is None or type(asked) is kind) if key is None else asked == key


def _below_key(of: PathContains, key: Key, kind: type[str | int] | None) -> Filter:
    if key is None:
        is_number = kind is int and not str(of.key).isdigit()
        is_other = is_number or (of.exact and not _may_be(of.key, None, kind))
        return of if is_other else any_of((of, Unknown()))
    found = key == of.key if of.exact else str(of.key) in str(key)
    return Everything() if found else of


# -- asking -----------------------------------------------------------------------------------


def passes(
    of: Filter, variable: Type, path: tuple[Key, ...] = (), *, is_exact: bool = False
) -> bool | None:
    """Tell whether a filter takes a Variable or an array.

    Args:
      of: The filter.
      variable: The type of the leaf.
      path: Its path from where the filter applies.
      is_exact: Whether it is of that class itself, not of a subclass.

    Returns:
      None where that is not sure.
    """
    for key in path:
        of = below(of, key)
    return _takes(of, get_proper_type(variable), is_exact)


def narrowed(of: Filter, variable: ProperType) -> ProperType:
    """Return the type of a Variable that a filter has taken: of one below its own, that class."""
    if not isinstance(of, OfType) or not isinstance(variable, Instance):
        return variable
    below_it = of.type.type
    count = len(below_it.type_vars)
    if below_it is variable.type or not below_it.has_base(variable.type.fullname):
        return variable
    arguments = variable.args[:count]
    return Instance(below_it, arguments) if len(arguments) == count else variable


def _takes(of: Filter, leaf: ProperType, is_exact: bool) -> bool | None:
    match of:
        case Everything():
            return True
        case Nothing() | PathContains():  # no key is left that the path could contain
            return False
        case Unknown():
            return None
        case OfType() if is_exact and isinstance(leaf, Instance) and not leaf.type.fallback_to_any:
            return leaf.type.has_base(of.type.type.fullname)
        case OfType():
            return _is_of_type(leaf, of.type)
        case WithTag():
            is_array = isinstance(leaf, Instance) and leaf.type.fullname == ARRAY
            return False if is_array else None  # it has no metadata
        case PathIn():
            return () in of.paths
        case AnyOf():
            return _decided(True, (_takes(each, leaf, is_exact) for each in of.filters))
        case AllOf():
            return _decided(False, (_takes(each, leaf, is_exact) for each in of.filters))
        case Negation():
            found = _takes(of.filter, leaf, is_exact)
            return None if found is None else not found


def _decided(decisive: bool, answers: Iterable[bool | None]) -> bool | None:
    """Return what several answers make together, of which one may decide."""
    found = set(answers)
    return decisive if decisive in found else None if None in found else not decisive


def _is_of_type(leaf: ProperType, asked: Instance) -> bool | None:
    if isinstance(leaf, types.UnionType):
        answers = {_is_of_type(get_proper_type(each), asked) for each in leaf.items}
        return answers.pop() if len(answers) == 1 else None
    if not isinstance(leaf, Instance):
        return None
    if leaf.type.has_base(asked.type.fullname):
        return True
    is_open = leaf.type.fallback_to_any or asked.type.fallback_to_any
    if is_open or asked.type.has_base(leaf.type.fullname) or asked.type.is_protocol:
        return None
    is_variable = any(runtime_base(each.type, "Variable") for each in (leaf, asked))
    # Arrays have many classes; what is a Variable is no array, and no Variable of another class.
    return False if is_variable and not leaf.type.is_protocol else None


def implies(narrow: Filter, wide: Filter) -> bool:
    """Tell whether all that one filter takes is surely taken by another, whatever the model."""
    if narrow == wide:
        return not has_unknown(narrow)
    match narrow, wide:
        case (_, Everything()) | (Nothing(), _):
            return True
        case AnyOf(), _:
            return all(implies(each, wide) for each in narrow.filters)
        case _, AllOf():
            return all(implies(narrow, each) for each in wide.filters)
        case _, AnyOf():
            return any(implies(narrow, each) for each in wide.filters) or any(
                negation(each) in wide.filters and not has_unknown(each) for each in wide.filters
            )
        case AllOf(), _:
            return any(implies(each, wide) for each in narrow.filters)
        case OfType(), OfType():
            return narrow.type.type.has_base(wide.type.type.fullname)
        case Negation(), Negation():
            return implies(wide.filter, narrow.filter)
        case _:
            return False


def parts_of(of: Filter) -> Iterator[Filter]:
    """Yield a filter and all that it consists of."""
    yield of
    match of:
        case AnyOf(filters=parts) | AllOf(filters=parts):
            inner = parts
        case Negation():
            inner = (of.filter,)
        case _:
            inner = ()
    for each in inner:
        yield from parts_of(each)


def has_unknown(of: Filter) -> bool:
    """Tell whether a part of a filter is not known."""
    return Unknown() in parts_of(of)


def looks_at_paths(of: Filter) -> bool:
    """Tell whether a filter asks where a leaf stands.

    A leaf that stands at two places is in a State once, which the types of a model do not say.
    """
    return any(isinstance(each, PathContains | PathIn) for each in parts_of(of))


def describe(of: Filter) -> str:
    """Return a filter as it would be written, for messages."""
    match of:
        case Everything():
            return "..."
        case Nothing():
            return "None"
        case Unknown():
            return "a filter"
        case OfType():
            return of.type.type.name
        case WithTag():
            return repr(of.tag)
        case PathContains():
            return f"PathContains({of.key!r})"
        case PathIn():
            return f"PathIn({', '.join(map(repr, of.paths))})"
        case AnyOf():
            return f"({', '.join(map(describe, of.filters))})"
        case AllOf():
            return f"All({', '.join(map(describe, of.filters))})"
        case Negation():
            return f"Not({describe(of.filter)})"


# -- entries of types -------------------------------------------------------------------------

FILTER: Final = "__nnx_filter__"
"""The entry of a type that holds a filter."""
UNSAID: Final = "**"
"""The entry of an object that has more entries than its type."""

_Part: TypeAlias = "Filter | Instance | str | int | tuple[_Part, ...]"
_ROW: Final = "()"
_CLASSES: Final = {kind.__name__: kind for kind in get_args(Filter)}


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
            made = tuple(parts) if name == _ROW else _CLASSES[str(name)](*parts)
            return cast("_Part", made)
        case LiteralType(value=str() | int() as value):
            return value
        case _:
            assert isinstance(found, Instance)
            return found
