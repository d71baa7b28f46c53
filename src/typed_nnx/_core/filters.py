"""Filters: predicates over (path, value), and the literals that stand for them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias, TypeVar, Union
from typing import Any as AnyType

from typed_nnx._core.paths import Key, Path
from typed_nnx._core.settings import MISSING
from typed_nnx.errors import ArgumentError, InvalidFilterError

if TYPE_CHECKING:
    from types import EllipsisType


A_contra = TypeVar("A_contra", contravariant=True)
C_co = TypeVar("C_co", covariant=True)
D_co = TypeVar("D_co", covariant=True)
F_co = TypeVar("F_co", covariant=True)
F_contra = TypeVar("F_contra", contravariant=True)
L_co = TypeVar("L_co", covariant=True)
L_contra = TypeVar("L_contra", contravariant=True)
M_co = TypeVar("M_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)
S_co = TypeVar("S_co", covariant=True)
S = TypeVar("S")


class SupportsState(Protocol[S_co]):
    """An object whose State has the type ``S_co``."""

    def __nnx_state__(self, /) -> S_co: ...


class SupportsLeaves(Protocol[L_co]):
    """A State whose leaves have the type ``L_co``."""

    def __nnx_leaves__(self, /) -> L_co: ...


class SupportsSplit(SupportsState[S_co], Protocol[M_co, S_co]):
    """An object of the type ``M_co`` whose State has the type ``S_co``."""

    def __nnx_self__(self, /) -> M_co: ...


class SupportsPart(Protocol[F_contra, S_co]):
    """An object from which the filter ``F_contra`` takes a State of the type ``S_co``."""

    def __nnx_part__(self, taken: F_contra, /) -> S_co: ...


class SupportsSplitPart(SupportsPart[F_contra, S_co], Protocol[M_co, F_contra, S_co]):
    """An object of the type ``M_co`` from which ``F_contra`` takes a State of the type ``S_co``."""

    def __nnx_self__(self, /) -> M_co: ...


class SupportsRest(Protocol[F_contra, S_co]):
    """An object of which the filter ``F_contra`` leaves a State of the type ``S_co``."""

    def __nnx_rest__(self, taken: F_contra, /) -> S_co: ...


# `__nnx_part__` comes last: pyrefly knows what the last one of two methods returns.
class SupportsDivision(Protocol[M_co, F_contra, R_co, S_co]):
    """An ``M_co`` of which the filter ``F_contra`` takes an ``S_co`` and leaves an ``R_co``."""

    def __nnx_self__(self, /) -> M_co: ...

    def __nnx_rest__(self, taken: F_contra, /) -> R_co: ...

    def __nnx_part__(self, taken: F_contra, /) -> S_co: ...


# The filter is not a parameter of these: a checker would solve such a parameter by the first overload
# of the method, for filters with a parameter that is still open, such as `Param`.
class HasPart(Protocol[C_co]):
    """An object whose ``__nnx_part__`` is a ``C_co``: a callable from filters to States."""

    @property
    def __nnx_part__(self) -> C_co: ...


class HasRest(Protocol[C_co]):
    """An object whose ``__nnx_rest__`` is a ``C_co``: a callable from filters to States."""

    @property
    def __nnx_rest__(self) -> C_co: ...


class HasSelect(Protocol[C_co]):
    """A filter whose ``__nnx_select__`` is a ``C_co``: a callable from objects to States.

    pyright solves it for an object of the type of ``self`` and of a type variable too, which it does
    not for `Selects`; but of several filters in one call it would mix the States.
    """

    @property
    def __nnx_select__(self) -> C_co: ...


class HasSelectAndLeave(HasSelect[C_co], Protocol[C_co, D_co]):
    """A filter that takes with a ``C_co``, and leaves with a ``D_co`` what is left for `...`."""

    @property
    def __nnx_leave__(self) -> D_co: ...


class Selects(Protocol[A_contra, S_co]):
    """A filter that takes a State of the type ``S_co`` from an object of the type ``A_contra``."""

    def __nnx_select__(self, node: A_contra, /) -> S_co: ...


class SelectsRest(Selects[A_contra, S_co], Protocol[A_contra, S_co, R_co]):
    """A filter that takes an ``S_co`` from an ``A_contra`` and leaves an ``R_co`` for `...`."""

    def __nnx_leave__(self, node: A_contra, /) -> R_co: ...


class SelectsNext(Protocol[A_contra, L_contra, S_co, R_co]):
    """A filter that takes an ``S_co`` from an ``A_contra``, after others that left an ``L_contra``.

    It leaves an ``R_co`` of what they left.
    """

    def __nnx_select__(self, node: A_contra, /) -> S_co: ...

    def __nnx_leave__(self, left: L_contra, /) -> R_co: ...


class HasFields(Protocol[M_co]):
    """A State of all leaves of an ``M_co``, with a field for each: a class of an overlay."""

    def __nnx_fields__(self, /) -> M_co: ...


class TypeFilter(Protocol[F_co]):
    """A type of Variables, of the type ``F_co``. mypy knows none: they are for pyrefly and ty."""

    def __nnx_type__(self, /) -> F_co: ...


MYPY = False


class TypeFilterHooks:
    """The phantom methods of the types of Variables, which are filters."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def __nnx_select__(cls, node: HasPart[Callable[[type[Self]], S]], /) -> S: ...

        @classmethod
        def __nnx_leave__(cls, node: HasRest[Callable[[type[Self]], S]], /) -> S: ...

        if not MYPY:

            @classmethod
            def __nnx_type__(cls, /) -> type[Self]: ...


class FilterHooks:
    """The phantom methods of filters that are objects, such as ``nnx.Not(nnx.Param)``."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __nnx_select__(self, node: HasPart[Callable[[Self], S]], /) -> S: ...

        def __nnx_leave__(self, node: HasRest[Callable[[Self], S]], /) -> S: ...


Predicate: TypeAlias = Callable[[Path, AnyType], bool]

Filter: TypeAlias = Union[  # a recursive alias must be evaluated lazily
    type, str, Predicate, bool, "EllipsisType", tuple["Filter", ...], list["Filter"], None
]
"""A type, a tag, a predicate, `...`, a bool, None, or a tuple or list of filters."""


@dataclasses.dataclass(frozen=True, repr=False)
class WithTag(FilterHooks):
    """Matches values with an attribute ``tag`` equal to `tag`, such as random streams."""

    tag: str

    def __call__(self, path: Path, x: AnyType) -> bool:
        """Whether the value `x` has the tag."""
        return bool(getattr(x, "tag", MISSING) == self.tag)

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


@dataclasses.dataclass(frozen=True)
class Everything(FilterHooks):
    """Matches all values."""

    def __call__(self, path: Path, x: AnyType) -> bool:
        """Return True."""
        return True


@dataclasses.dataclass(frozen=True)
class Nothing(FilterHooks):
    """Matches no values."""

    def __call__(self, path: Path, x: AnyType) -> bool:
        """Return False."""
        return False


def to_predicate(filter: Filter) -> Predicate:  # noqa: A002 -- the public name of the argument
    """Return the predicate that a filter describes.

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
    raise InvalidFilterError(
        "filter",
        f"got {filter!r} ({type(filter).__name__}); expected a type, a string tag, `...`, a bool, "
        "None, a tuple or list of filters, or a function (path, value) -> bool.",
        "nnx.split(model, nnx.Param, ...)",
    )


def to_predicates(filters: Sequence[Filter]) -> tuple[Predicate, ...]:
    """Return the predicates of filters that are tried in order.

    Raises:
        ArgumentError: `...` or `True` comes before another filter.
    """
    for index, given in enumerate(filters):
        is_last = all(rest is Ellipsis or rest is True for rest in filters[index + 1 :])
        if (given is Ellipsis or given is True) and not is_last:
            shown = "..." if given is Ellipsis else repr(given)
            raise ArgumentError(
                "filters",
                f"`...` or `True` can only be used as the last filters, got `{shown}` at index "
                f"{index}: it takes every remaining leaf.",
                "move it to the end of the filters",
            )
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
