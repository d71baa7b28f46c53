"""Phantom protocols by which type checkers know which State belongs to which object and filter.

Their methods do not exist at run time. ``state(node)`` takes a `SupportsState[S]` and returns ``S``; a filter
is a `Selects[A, S]`: from an ``A`` it takes a State ``S``. An object answers (see
`StateHooks`) with its own type and the filter, as the parameters of a `State`; the overlay that
``typed-nnx stubs`` writes for the models of a user answers with State classes that have fields.

The filter asks the object, not the other way round: checkers go through arguments in order, so
the type of the object is known when the filter is looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

A_contra = TypeVar("A_contra", contravariant=True)
C_co = TypeVar("C_co", covariant=True)
F_contra = TypeVar("F_contra", contravariant=True)
L_contra = TypeVar("L_contra", contravariant=True)
M_co = TypeVar("M_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)
S_co = TypeVar("S_co", covariant=True)
S = TypeVar("S")


class SupportsState(Protocol[S_co]):
    """An object whose State has the type ``S_co``."""

    def __nnx_state__(self, /) -> S_co:
        """Exists for type checkers only."""
        ...


class SupportsSplit(SupportsState[S_co], Protocol[M_co, S_co]):
    """An object of the type ``M_co`` whose State has the type ``S_co``."""

    def __nnx_self__(self, /) -> M_co:
        """Exists for type checkers only."""
        ...


class SupportsPart(Protocol[F_contra, S_co]):
    """An object from which the filter ``F_contra`` takes a State of the type ``S_co``."""

    def __nnx_part__(self, taken: F_contra, /) -> S_co:
        """Exists for type checkers only."""
        ...


class SupportsSplitPart(SupportsPart[F_contra, S_co], Protocol[M_co, F_contra, S_co]):
    """An object of the type ``M_co`` from which ``F_contra`` takes a State of the type ``S_co``."""

    def __nnx_self__(self, /) -> M_co:
        """Exists for type checkers only."""
        ...


class SupportsRest(Protocol[F_contra, S_co]):
    """An object of which the filter ``F_contra`` leaves a State of the type ``S_co``."""

    def __nnx_rest__(self, taken: F_contra, /) -> S_co:
        """Exists for type checkers only."""
        ...


# The filter is not a parameter of these: a checker would solve such a parameter by the first overload
# of the method, for filters with a parameter that is still open, such as `Param`.
class HasPart(Protocol[C_co]):
    """An object whose ``__nnx_part__`` is a ``C_co``: a callable from filters to States."""

    @property
    def __nnx_part__(self) -> C_co:
        """Exists for type checkers only."""
        ...


class HasRest(Protocol[C_co]):
    """An object whose ``__nnx_rest__`` is a ``C_co``: a callable from filters to States."""

    @property
    def __nnx_rest__(self) -> C_co:
        """Exists for type checkers only."""
        ...


class Selects(Protocol[A_contra, S_co]):
    """A filter that takes a State of the type ``S_co`` from an object of the type ``A_contra``."""

    def __nnx_select__(self, node: A_contra, /) -> S_co:
        """Exists for type checkers only."""
        ...


class SelectsRest(Selects[A_contra, S_co], Protocol[A_contra, S_co, R_co]):
    """A filter that takes an ``S_co`` from an ``A_contra`` and leaves an ``R_co`` for `...`."""

    def __nnx_leave__(self, node: A_contra, /) -> R_co:
        """Exists for type checkers only."""
        ...


class SelectsNext(Protocol[A_contra, L_contra, S_co, R_co]):
    """A filter that takes an ``S_co`` from an ``A_contra``, after others that left an ``L_contra``.

    It leaves an ``R_co`` of what they left.
    """

    def __nnx_select__(self, node: A_contra, /) -> S_co:
        """Exists for type checkers only."""
        ...

    def __nnx_leave__(self, left: L_contra, /) -> R_co:
        """Exists for type checkers only."""
        ...


class HasFields(Protocol[M_co]):
    """A State of all leaves of an ``M_co``, with a field for each: a class of an overlay."""

    def __nnx_fields__(self, /) -> M_co:
        """Exists for type checkers only."""
        ...


class TypeFilterHooks:
    """The phantom methods of the types of Variables, which are filters."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def __nnx_select__(cls, node: HasPart[Callable[[type[Self]], S]], /) -> S:
            """Exists for type checkers only."""
            ...

        @classmethod
        def __nnx_leave__(cls, node: HasRest[Callable[[type[Self]], S]], /) -> S:
            """Exists for type checkers only."""
            ...


class FilterHooks:
    """The phantom methods of filters that are objects, such as ``nnx.Not(nnx.Param)``."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __nnx_select__(self, node: HasPart[Callable[[Self], S]], /) -> S:
            """Exists for type checkers only."""
            ...

        def __nnx_leave__(self, node: HasRest[Callable[[Self], S]], /) -> S:
            """Exists for type checkers only."""
            ...
