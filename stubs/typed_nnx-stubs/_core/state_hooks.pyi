# Generated from the source of typed_nnx._core.state_hooks by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from typed_nnx._core.state import State
from typed_nnx._core.variable_types import LoRAParam
from typed_nnx._core.variable_types import Param
from types import EllipsisType
from typing import Any
from typing import ClassVar
from typing import Protocol
from typing import Self
from typing import TypeVar

MYPY: bool

A_contra = TypeVar("A_contra", contravariant=True)
C_co = TypeVar("C_co", covariant=True)
F_contra = TypeVar("F_contra", contravariant=True)
L_contra = TypeVar("L_contra", contravariant=True)
M_co = TypeVar("M_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)
S_co = TypeVar("S_co", covariant=True)
F = TypeVar("F")
S = TypeVar("S")

class SupportsState(Protocol[S_co]):
    def __nnx_state__(self, /) -> S_co: ...

class SupportsSplit(SupportsState[S_co], Protocol[M_co, S_co]):
    def __nnx_self__(self, /) -> M_co: ...

class SupportsPart(Protocol[F_contra, S_co]):
    def __nnx_part__(self, taken: F_contra, /) -> S_co: ...

class SupportsSplitPart(SupportsPart[F_contra, S_co], Protocol[M_co, F_contra, S_co]):
    def __nnx_self__(self, /) -> M_co: ...

class SupportsRest(Protocol[F_contra, S_co]):
    def __nnx_rest__(self, taken: F_contra, /) -> S_co: ...

class HasPart(Protocol[C_co]):
    @property
    def __nnx_part__(self) -> C_co: ...

class HasRest(Protocol[C_co]):
    @property
    def __nnx_rest__(self) -> C_co: ...

class Selects(Protocol[A_contra, S_co]):
    def __nnx_select__(self, node: A_contra, /) -> S_co: ...

class SelectsRest(Selects[A_contra, S_co], Protocol[A_contra, S_co, R_co]):
    def __nnx_leave__(self, node: A_contra, /) -> R_co: ...

class SelectsNext(Protocol[A_contra, L_contra, S_co, R_co]):
    def __nnx_select__(self, node: A_contra, /) -> S_co: ...
    def __nnx_leave__(self, left: L_contra, /) -> R_co: ...

class HasFields(Protocol[M_co]):
    def __nnx_fields__(self, /) -> M_co: ...

class StateHooks:
    __nnx_is_graph__: ClassVar[bool]
    def __nnx_self__(self, /) -> Self: ...
    def __nnx_state__(self, /) -> State[Any, Any, Self, Any]: ...
    def __nnx_part__(self, taken: F, /) -> State[Any, Any, Self, F]: ...
    def __nnx_rest__(self, taken: object, /) -> State[Any, Any, Self, EllipsisType]: ...
    if MYPY:
        def __nnx_params__(self, /) -> State[Any, Any, Self, type[Param[Any]]]: ...  # pyright: ignore[reportRedeclaration]
        def __nnx_lora_params__(self, /) -> State[Any, Any, Self, type[LoRAParam[Any]]]: ...  # pyright: ignore[reportRedeclaration]
    else:
        def __nnx_params__(self: SupportsPart[type[Param[Any]], S], /) -> S: ...
        def __nnx_lora_params__(self: SupportsPart[type[LoRAParam[Any]], S], /) -> S: ...

class TypeFilterHooks:
    @classmethod
    def __nnx_select__(cls, node: HasPart[Callable[[type[Self]], S]], /) -> S: ...
    @classmethod
    def __nnx_leave__(cls, node: HasRest[Callable[[type[Self]], S]], /) -> S: ...

class FilterHooks:
    def __nnx_select__(self, node: HasPart[Callable[[Self], S]], /) -> S: ...
    def __nnx_leave__(self, node: HasRest[Callable[[Self], S]], /) -> S: ...
