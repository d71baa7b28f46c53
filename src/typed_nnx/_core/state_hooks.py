"""Phantom methods by which type checkers know which State belongs to which object.

They do not exist at run time. ``state(node)`` takes a `SupportsState[S]` and returns ``S``; the
method below answers that with the object's own type, and generated stubs may answer more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from typed_nnx._core.state import State

S_co = TypeVar("S_co", covariant=True)
M_co = TypeVar("M_co", covariant=True)


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


class StateHooks:
    """The phantom methods of every Pytree."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __nnx_self__(self, /) -> Self:
            """Exists for type checkers only."""
            ...

        def __nnx_state__(self, /) -> State[Any, Any, Self, Any]:
            """Exists for type checkers only."""
            ...
