"""`StateHooks`: what a Pytree says to type checkers about its State."""

from __future__ import annotations

from types import EllipsisType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

if TYPE_CHECKING:
    from typed_nnx._core.state import State
    from typed_nnx._core.state_protocols import SupportsPart
    from typed_nnx._core.variable_types import LoRAParam, Param

F = TypeVar("F")
S = TypeVar("S")

# mypy takes it for true. It cannot infer a State through a generic method in the type of `self`;
# pyright can, and knows the overlay of a user's models in this way.
MYPY = False


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

        def __nnx_part__(self, taken: F, /) -> State[Any, Any, Self, F]:
            """Exists for type checkers only."""
            ...

        def __nnx_rest__(self, taken: object, /) -> State[Any, Any, Self, EllipsisType]:
            """Exists for type checkers only."""
            ...

        # What gradients are found by. An attribute of a State or a Variable would satisfy the
        # protocols of these methods, but for this mark.
        __nnx_is_graph__: ClassVar[bool]

        if MYPY:

            def __nnx_params__(self, /) -> State[Any, Any, Self, type[Param[Any]]]:  # pyright: ignore[reportRedeclaration]  # for mypy
                """Exists for type checkers only."""
                ...

        else:

            def __nnx_params__(self: SupportsPart[type[Param[Any]], S], /) -> S:
                """Exists for type checkers only."""
                ...

            # mypy would join what two models of a union answer; it takes the next overload instead.
            def __nnx_param_fields__(self: SupportsPart[type[Param[Any]], S], /) -> S:
                """Exists for type checkers only."""
                ...

            def __nnx_lora_fields__(self: SupportsPart[type[LoRAParam[Any]], S], /) -> S:
                """Exists for type checkers only."""
                ...
