"""Filters: predicates over (path, value), and the literals that stand for them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, Union
from typing import Any as AnyType

from typed_nnx._core.paths import Key, Path
from typed_nnx._core.state_protocols import FilterHooks
from typed_nnx.errors import FilterOrderError, InvalidFilterError

if TYPE_CHECKING:
    from types import EllipsisType

Predicate: TypeAlias = Callable[[Path, AnyType], bool]

Filter: TypeAlias = Union[  # a recursive alias must be evaluated lazily
    type,
    str,
    Predicate,
    bool,
    "EllipsisType",
    tuple["Filter", ...],
    list["Filter"],
    None,
]
"""A type, a tag, a predicate, `...`, a bool, None, or a tuple or list of filters."""

_ABSENT = object()


@dataclasses.dataclass(frozen=True, repr=False)
class WithTag(FilterHooks):
    """Matches values with an attribute ``tag`` equal to `tag`, such as random streams."""

    tag: str

    def __call__(self, path: Path, x: AnyType) -> bool:
        """Whether the value `x` has the tag."""
        return bool(getattr(x, "tag", _ABSENT) == self.tag)

    def __repr__(self) -> str:
        return f"WithTag({self.tag!r})"


@dataclasses.dataclass(frozen=True, repr=False)
class PathContains(FilterHooks):
    """Matches values whose path contains a key; with ``exact=False`` a text that contains it."""

    key: Key
    exact: bool = True

    def __call__(self, path: Path, x: AnyType) -> bool:
        """Whether the path contains the key."""
        if self.exact:
            return self.key in path
        return any(str(self.key) in str(key) for key in path)

    def __repr__(self) -> str:
        return f"PathContains({self.key!r}, exact={self.exact})"


class PathIn(FilterHooks):
    """Matches values at one of the given paths."""

    def __init__(self, *paths: Path) -> None:
        self.paths: frozenset[Path] = frozenset(paths)

    def __call__(self, path: Path, x: AnyType) -> bool:
        """Whether the path is one of them."""
        return path in self.paths

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PathIn) and self.paths == other.paths

    def __hash__(self) -> int:
        return hash((PathIn, self.paths))

    def __repr__(self) -> str:
        return f"PathIn({', '.join(map(repr, sorted(self.paths, key=repr)))})"


@dataclasses.dataclass(frozen=True, repr=False)
class OfType(FilterHooks):
    """Matches values of a type, and values whose ``type`` attribute is a subclass of it."""

    type: type

    def __call__(self, path: Path, x: AnyType) -> bool:
        """Whether the value is of the type."""
        if isinstance(x, self.type):
            return True
        kind = getattr(x, "type", None)
        return isinstance(kind, type) and issubclass(kind, self.type)

    def __repr__(self) -> str:
        return f"OfType({self.type!r})"


class _Combined(FilterHooks):
    """A filter made of other filters."""

    def __init__(self, *filters: Filter) -> None:
        self.predicates: tuple[Predicate, ...] = tuple(
            [to_predicate(filter_) for filter_ in filters]
        )

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.predicates == getattr(other, "predicates", None)

    def __hash__(self) -> int:
        return hash((type(self), self.predicates))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.predicates))})"


class Any(_Combined):
    """Matches values that any of the filters matches."""

    def __call__(self, path: Path, x: AnyType) -> bool:
        """Whether any of the filters matches."""
        return any(predicate(path, x) for predicate in self.predicates)


class All(_Combined):
    """Matches values that all of the filters match."""

    def __call__(self, path: Path, x: AnyType) -> bool:
        """Whether all of the filters match."""
        return all(predicate(path, x) for predicate in self.predicates)


class Not(_Combined):
    """Matches values that a filter does not match."""

    def __init__(self, collection_filter: Filter, /) -> None:
        super().__init__(collection_filter)

    def __call__(self, path: Path, x: AnyType) -> bool:
        """Whether the filter does not match."""
        return not self.predicates[0](path, x)


class Everything(FilterHooks):
    """Matches all values."""

    def __call__(self, path: Path, x: AnyType) -> bool:
        """Return True."""
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Everything)

    def __hash__(self) -> int:
        return hash(Everything)

    def __repr__(self) -> str:
        return "Everything()"


class Nothing(FilterHooks):
    """Matches no values."""

    def __call__(self, path: Path, x: AnyType) -> bool:
        """Return False."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Nothing)

    def __hash__(self) -> int:
        return hash(Nothing)

    def __repr__(self) -> str:
        return "Nothing()"


def to_predicate(filter: Filter) -> Predicate:  # noqa: A002 -- the public name of the argument
    """Return the predicate that a filter stands for.

    Raises:
        InvalidFilterError: It is no filter.
    """
    if isinstance(filter, str):
        return WithTag(filter)
    if isinstance(filter, type):
        return OfType(filter)
    if isinstance(filter, bool):
        return Everything() if filter else Nothing()
    if filter is Ellipsis:
        return Everything()
    if filter is None:
        return Nothing()
    if callable(filter):
        return filter
    if isinstance(filter, list | tuple):
        return Any(*filter)
    raise InvalidFilterError(filter)


def to_predicates(filters: Sequence[Filter]) -> tuple[Predicate, ...]:
    """Return the predicates of filters that are tried in order.

    Raises:
        FilterOrderError: `...` or `True` comes before another filter.
    """
    for index, given in enumerate(filters):
        is_last = all(rest is Ellipsis or rest is True for rest in filters[index + 1 :])
        if (given is Ellipsis or given is True) and not is_last:
            raise FilterOrderError(index, given)
    return tuple([to_predicate(filter_) for filter_ in filters])


filters_to_predicates = to_predicates

_STRUCTURAL = (WithTag, PathContains, PathIn, OfType, Everything, Nothing)


def is_structural(predicate: Predicate) -> bool:
    """Whether a predicate depends on paths, types and metadata alone, not on values."""
    if isinstance(predicate, _Combined):
        return all(map(is_structural, predicate.predicates))
    return isinstance(predicate, _STRUCTURAL)


def types_in(predicate: Predicate) -> list[type]:
    """Return the types that a structural predicate asks for."""
    if isinstance(predicate, _Combined):
        return [kind for inner in predicate.predicates for kind in types_in(inner)]
    return [predicate.type] if isinstance(predicate, OfType) else []
