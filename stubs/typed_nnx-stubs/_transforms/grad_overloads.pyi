# Written by `make stubs`. Do not edit. There is no such module at run time: these are the types
# that checkers give to the functions of the source with `typed_as`.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable, Hashable, Sequence
from jax.typing import ArrayLike
from typed_nnx._core.filters import SupportsSplitPart
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_types import LoRAParam, Param
from typed_nnx._transforms.engine.argnums import DiffArgs
from typed_nnx._transforms.engine.prefixes import DiffState
from typed_nnx._transforms.grad import Gradient, ValueAndGradient
from typing import Any, ClassVar, Generic, Literal, Never, Protocol, TypeAlias, overload
from typing_extensions import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
Q = ParamSpec("Q")
Z = ParamSpec("Z")
_P = ParamSpec("_P", default=...)
_Q = ParamSpec("_Q", default=...)
_R_co = TypeVar("_R_co", covariant=True)
_R = TypeVar("_R", default=Any)
_Loss = TypeVar("_Loss", bound=ArrayLike | Variable[Any], default=Any)
_X = TypeVar("_X", default=Any)
_X_co = TypeVar("_X_co", covariant=True)
class _Params: ...
_A0 = TypeVar("_A0", bound=Any, default=Any)
_I0 = TypeVar("_I0", bound=Any)
_A0_co = TypeVar("_A0_co", bound=Any, covariant=True)
_K0_co = TypeVar("_K0_co", bound=Any, covariant=True)
_A0_contra = TypeVar("_A0_contra", bound=Any, contravariant=True)
_F0 = TypeVar("_F0", default=_Params)
_G0 = TypeVar("_G0")
_S0 = TypeVar("_S0", default=Any)
_T0_co = TypeVar("_T0_co", covariant=True)
_V0 = TypeVar("_V0", bound="_NoGraph")
_A1 = TypeVar("_A1", bound=Any, default=Any)
_I1 = TypeVar("_I1", bound=Any)
_A1_co = TypeVar("_A1_co", bound=Any, covariant=True)
_K1_co = TypeVar("_K1_co", bound=Any, covariant=True)
_A1_contra = TypeVar("_A1_contra", bound=Any, contravariant=True)
_F1 = TypeVar("_F1", default=_Params)
_G1 = TypeVar("_G1")
_S1 = TypeVar("_S1", default=Any)
_T1_co = TypeVar("_T1_co", covariant=True)
_V1 = TypeVar("_V1", bound="_NoGraph")
_B = TypeVar("_B")
_N_co = TypeVar("_N_co", covariant=True)

_Position: TypeAlias = int | DiffState[Any, Any]

MYPY = False

_M_co = TypeVar("_M_co", covariant=True)
_S_co = TypeVar("_S_co", covariant=True)

class _Graph(Protocol):
    __nnx_is_graph__: ClassVar[bool]

class _HasParams(Protocol[_S_co]):
    __nnx_is_graph__: ClassVar[bool]
    def __nnx_param_fields__(self, /) -> _S_co: ...

# Of an object of a class, such as the one that a parameter is annotated with.
class _Model(Protocol[_M_co, _S_co]):
    __nnx_is_graph__: ClassVar[bool]
    def __nnx_self__(self, /) -> _M_co: ...
    def __nnx_param_fields__(self, /) -> _S_co: ...

class _NoGraph(Protocol):
    def __sizeof__(self) -> int: ...

# Nothing is one, but a type that is not known.
class _Untyped: ...

class _HasLoRA(Protocol[_S_co]):
    __nnx_is_graph__: ClassVar[bool]
    def __nnx_lora_fields__(self, /) -> _S_co: ...

# Where a checker does not know which one counts, pyrefly takes the first, pyright the last.
class _Marked:
    if not MYPY:
        __nnx_mypy__: None
    else:
        __nnx_mypy__: bool  # pyright: ignore[reportRedeclaration]  # one of them counts
    if not MYPY:
        __nnx_mypy__: None

# What a loss with a tuple as its result is made into: it cannot be called.
class _HasAuxIsMissing: ...

# In a union with it, pyright infers the type of ``remat(f)`` before it looks at the protocol.
class _NoFunction: ...

# Only what has no signature of its own accepts this, such as ``Callable[..., Any]``.
class _AnyFunction(Protocol):
    def __call__(self, *args: Never, _nnx_unknown: Never, **kwargs: Never) -> Any: ...

class _At0(_Marked):
    def __nnx_at0__(self) -> None: ...
class _At01(_Marked):
    def __nnx_at01__(self) -> None: ...
class _At02(_Marked):
    def __nnx_at02__(self) -> None: ...
class _At03(_Marked):
    def __nnx_at03__(self) -> None: ...
class _At1(_Marked):
    def __nnx_at1__(self) -> None: ...
class _At10(_Marked):
    def __nnx_at10__(self) -> None: ...
class _At12(_Marked):
    def __nnx_at12__(self) -> None: ...
class _At13(_Marked):
    def __nnx_at13__(self) -> None: ...
class _At2(_Marked):
    def __nnx_at2__(self) -> None: ...
class _At23(_Marked):
    def __nnx_at23__(self) -> None: ...
class _At3(_Marked):
    def __nnx_at3__(self) -> None: ...
class _Seen0(Protocol):
    __nnx_mypy__: None
    def __nnx_at0__(self) -> None: ...
class _Seen1(Protocol):
    __nnx_mypy__: None
    def __nnx_at1__(self) -> None: ...
class _Seen01(Protocol):
    __nnx_mypy__: None
    def __nnx_at01__(self) -> None: ...

class _OfLoss(Protocol[P, Q, _A0_contra, _R_co]):
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, a0: _A0_contra, /, *args: Q.args, **kwargs: Q.kwargs) -> _R_co: ...

class _Fn0(Protocol[P, Q, _A0_contra, _R_co]):
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, a0: _A0_contra, /, *args: Q.args, **kwargs: Q.kwargs) -> _R_co: ...

class _Fn1(Protocol[P, Q, _A0_contra, _R_co]):
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, a0: Any, a1: _A0_contra, /, *args: Q.args, **kwargs: Q.kwargs) -> _R_co: ...

class _Fn2(Protocol[P, Q, _A0_contra, _R_co]):
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, a0: Any, a1: Any, a2: _A0_contra, /, *args: Q.args, **kwargs: Q.kwargs) -> _R_co: ...

class _Fn3(Protocol[P, Q, _A0_contra, _R_co]):
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, a0: Any, a1: Any, a2: Any, a3: _A0_contra, /, *args: Q.args, **kwargs: Q.kwargs) -> _R_co: ...

class _Fn01(Protocol[P, Q, _A0_contra, _A1_contra, _R_co]):
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, a0: _A0_contra, a1: _A1_contra, /, *args: Q.args, **kwargs: Q.kwargs) -> _R_co: ...

class _Fn02(Protocol[P, Q, _A0_contra, _A1_contra, _R_co]):
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, a0: _A0_contra, a1: Any, a2: _A1_contra, /, *args: Q.args, **kwargs: Q.kwargs) -> _R_co: ...

class _Fn03(Protocol[P, Q, _A0_contra, _A1_contra, _R_co]):
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, a0: _A0_contra, a1: Any, a2: Any, a3: _A1_contra, /, *args: Q.args, **kwargs: Q.kwargs) -> _R_co: ...

class _Fn12(Protocol[P, Q, _A0_contra, _A1_contra, _R_co]):
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, a0: Any, a1: _A0_contra, a2: _A1_contra, /, *args: Q.args, **kwargs: Q.kwargs) -> _R_co: ...

class _Fn13(Protocol[P, Q, _A0_contra, _A1_contra, _R_co]):
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, a0: Any, a1: _A0_contra, a2: Any, a3: _A1_contra, /, *args: Q.args, **kwargs: Q.kwargs) -> _R_co: ...

class _Fn23(Protocol[P, Q, _A0_contra, _A1_contra, _R_co]):
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, a0: Any, a1: Any, a2: _A0_contra, a3: _A1_contra, /, *args: Q.args, **kwargs: Q.kwargs) -> _R_co: ...

class _Fn10(Protocol[P, Q, _A0_contra, _A1_contra, _R_co]):
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, a0: _A1_contra, a1: _A0_contra, /, *args: Q.args, **kwargs: Q.kwargs) -> _R_co: ...

class _By1(_Marked, Generic[_K0_co, _A0_co, _G0]):
    @overload
    def __nnx_gradient0__(self: _By1[_HasParams[_S0], object, _Params], /) -> _S0: ...
    @overload
    def __nnx_gradient0__(self: _By1[_HasParams[_S0] | None, object, _Params], /) -> _S0 | None: ...
    @overload
    def __nnx_gradient0__(self: _By1[_HasLoRA[_S0], object, type[LoRAParam[Any]]], /) -> _S0: ...
    @overload
    def __nnx_gradient0__(self: _By1[_Graph, _A0, _Params], /) -> State[Any, Any, _A0, type[Param[Any]]]: ...
    @overload
    def __nnx_gradient0__(self: _By1[_Graph, _A0, _F0], /) -> State[Any, Any, _A0, _F0]: ...
    @overload
    def __nnx_gradient0__(self: _By1[_Graph | None, _A0 | None, _Params], /) -> State[Any, Any, _A0, type[Param[Any]]] | None: ...
    @overload
    def __nnx_gradient0__(self: _By1[_Graph | None, _A0 | None, _F0], /) -> State[Any, Any, _A0, _F0] | None: ...
    @overload
    def __nnx_gradient0__(self: _By1[object, _A0, _F0], /) -> _A0: ...

class _Has1(Protocol[_T0_co]):
    def __nnx_gradient0__(self, /) -> _T0_co: ...

class _Mypy1(_Has1[_T0_co], Protocol[_T0_co]):
    __nnx_mypy__: bool

class _By2(_Marked, Generic[_K0_co, _K1_co, _A0_co, _A1_co, _G0, _G1]):
    @overload
    def __nnx_gradient0__(self: _By2[_HasParams[_S0], object, object, object, _Params, Any], /) -> _S0: ...
    @overload
    def __nnx_gradient0__(self: _By2[_HasParams[_S0] | None, object, object, object, _Params, Any], /) -> _S0 | None: ...
    @overload
    def __nnx_gradient0__(self: _By2[_HasLoRA[_S0], object, object, object, type[LoRAParam[Any]], Any], /) -> _S0: ...
    @overload
    def __nnx_gradient0__(self: _By2[_Graph, object, _A0, object, _Params, Any], /) -> State[Any, Any, _A0, type[Param[Any]]]: ...
    @overload
    def __nnx_gradient0__(self: _By2[_Graph, object, _A0, object, _F0, Any], /) -> State[Any, Any, _A0, _F0]: ...
    @overload
    def __nnx_gradient0__(self: _By2[_Graph | None, object, _A0 | None, object, _Params, Any], /) -> State[Any, Any, _A0, type[Param[Any]]] | None: ...
    @overload
    def __nnx_gradient0__(self: _By2[_Graph | None, object, _A0 | None, object, _F0, Any], /) -> State[Any, Any, _A0, _F0] | None: ...
    @overload
    def __nnx_gradient0__(self: _By2[object, object, _A0, object, _F0, Any], /) -> _A0: ...
    @overload
    def __nnx_gradient1__(self: _By2[object, _HasParams[_S1], object, object, Any, _Params], /) -> _S1: ...
    @overload
    def __nnx_gradient1__(self: _By2[object, _HasParams[_S1] | None, object, object, Any, _Params], /) -> _S1 | None: ...
    @overload
    def __nnx_gradient1__(self: _By2[object, _HasLoRA[_S1], object, object, Any, type[LoRAParam[Any]]], /) -> _S1: ...
    @overload
    def __nnx_gradient1__(self: _By2[object, _Graph, object, _A1, Any, _Params], /) -> State[Any, Any, _A1, type[Param[Any]]]: ...
    @overload
    def __nnx_gradient1__(self: _By2[object, _Graph, object, _A1, Any, _F1], /) -> State[Any, Any, _A1, _F1]: ...
    @overload
    def __nnx_gradient1__(self: _By2[object, _Graph | None, object, _A1 | None, Any, _Params], /) -> State[Any, Any, _A1, type[Param[Any]]] | None: ...
    @overload
    def __nnx_gradient1__(self: _By2[object, _Graph | None, object, _A1 | None, Any, _F1], /) -> State[Any, Any, _A1, _F1] | None: ...
    @overload
    def __nnx_gradient1__(self: _By2[object, object, object, _A1, Any, _F1], /) -> _A1: ...

class _Has2(Protocol[_T0_co, _T1_co]):
    def __nnx_gradient0__(self, /) -> _T0_co: ...
    def __nnx_gradient1__(self, /) -> _T1_co: ...

class _Mypy2(_Has2[_T0_co, _T1_co], Protocol[_T0_co, _T1_co]):
    __nnx_mypy__: bool

class _GradientOf1(_By1[_I0, _I0, _G0], Gradient[P, Any], Generic[_I0, _G0, _N_co, P, Q]):
    @overload
    def __call__(self: _Mypy1[_S0], *args: P.args, **kwargs: P.kwargs) -> _S0: ...
    @overload
    def __call__(self: _GradientOf1[_Untyped, _Params, _Seen0, P, Q], a0: _HasParams[_V0] | _V0, /, *args: Q.args, **kwargs: Q.kwargs) -> _V0: ...
    @overload
    def __call__(self: _GradientOf1[_I0, _Params, _Seen0, P, Q], a0: _Model[_I0, _V0], /, *args: Q.args, **kwargs: Q.kwargs) -> _V0: ...
    @overload
    def __call__(self: _GradientOf1[_I0, _G0, _Seen0, P, Q], a0: SupportsSplitPart[_I0, _G0, _V0], /, *args: Q.args, **kwargs: Q.kwargs) -> _V0: ...
    @overload
    def __call__(self: _GradientOf1[_Untyped, _Params, _Seen1, Concatenate[_B, Any, Z], ...], a0: _B, a1: _HasParams[_V0] | _V0, /, *args: Z.args, **kwargs: Z.kwargs) -> _V0: ...
    @overload
    def __call__(self: _GradientOf1[_I0, _Params, _Seen1, Concatenate[_B, Any, Z], ...], a0: _B, a1: _Model[_I0, _V0], /, *args: Z.args, **kwargs: Z.kwargs) -> _V0: ...
    @overload
    def __call__(self: _GradientOf1[_I0, _G0, _Seen1, Concatenate[_B, Any, Z], ...], a0: _B, a1: SupportsSplitPart[_I0, _G0, _V0], /, *args: Z.args, **kwargs: Z.kwargs) -> _V0: ...
    @overload
    def __call__(self: _By1[_HasParams[_S0], object, _Params], *args: P.args, **kwargs: P.kwargs) -> _S0: ...
    @overload
    def __call__(self: _By1[_HasParams[_S0] | None, object, _Params], *args: P.args, **kwargs: P.kwargs) -> _S0 | None: ...
    @overload
    def __call__(self: _By1[_HasLoRA[_S0], object, type[LoRAParam[Any]]], *args: P.args, **kwargs: P.kwargs) -> _S0: ...
    @overload
    def __call__(self: _By1[_Graph, _A0, _Params], *args: P.args, **kwargs: P.kwargs) -> State[Any, Any, _A0, type[Param[Any]]]: ...
    @overload
    def __call__(self: _By1[_Graph, _A0, _F0], *args: P.args, **kwargs: P.kwargs) -> State[Any, Any, _A0, _F0]: ...
    @overload
    def __call__(self: _By1[_Graph | None, _A0 | None, _Params], *args: P.args, **kwargs: P.kwargs) -> State[Any, Any, _A0, type[Param[Any]]] | None: ...
    @overload
    def __call__(self: _By1[_Graph | None, _A0 | None, _F0], *args: P.args, **kwargs: P.kwargs) -> State[Any, Any, _A0, _F0] | None: ...
    @overload
    def __call__(self: _By1[object, _A0, _F0], *args: P.args, **kwargs: P.kwargs) -> _A0: ...

class _GradientOf2(_By2[_I0, _I1, _I0, _I1, _G0, _G1], Gradient[P, Any], Generic[_I0, _I1, _G0, _G1, _N_co, P, Q]):
    @overload
    def __call__(self: _Mypy2[_S0, _S1], *args: P.args, **kwargs: P.kwargs) -> tuple[_S0, _S1]: ...
    @overload
    def __call__(self: _GradientOf2[_Untyped, _Untyped, _Params, _Params, _Seen01, P, Q], a0: _HasParams[_V0] | _V0, a1: _HasParams[_V1] | _V1, /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_V0, _V1]: ...
    @overload
    def __call__(self: _GradientOf2[_I0, _I1, _Params, _Params, _Seen01, P, Q], a0: _Model[_I0, _V0], a1: _Model[_I1, _V1], /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_V0, _V1]: ...
    @overload
    def __call__(self: _GradientOf2[_I0, _V1, _Params, _G1, _Seen01, P, Q], a0: _Model[_I0, _V0], a1: _V1, /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_V0, _V1]: ...
    @overload
    def __call__(self: _GradientOf2[_V0, _I1, _G0, _Params, _Seen01, P, Q], a0: _V0, a1: _Model[_I1, _V1], /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_V0, _V1]: ...
    @overload
    def __call__(self: _Has2[_S0, _S1], *args: P.args, **kwargs: P.kwargs) -> tuple[_S0, _S1]: ...

class _GradientOfOneTuple(_By1[_I0, _I0, _G0], Gradient[P, Any], Generic[_I0, _G0, _N_co, P, Q]):
    @overload
    def __call__(self: _Mypy1[_S0], *args: P.args, **kwargs: P.kwargs) -> tuple[_S0]: ...
    @overload
    def __call__(self: _GradientOfOneTuple[_Untyped, _Params, _Seen0, P, Q], a0: _HasParams[_V0] | _V0, /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_V0]: ...
    @overload
    def __call__(self: _GradientOfOneTuple[_I0, _Params, _Seen0, P, Q], a0: _Model[_I0, _V0], /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_V0]: ...
    @overload
    def __call__(self: _GradientOfOneTuple[_I0, _G0, _Seen0, P, Q], a0: SupportsSplitPart[_I0, _G0, _V0], /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_V0]: ...
    @overload
    def __call__(self: _GradientOfOneTuple[_Untyped, _Params, _Seen1, Concatenate[_B, Any, Z], ...], a0: _B, a1: _HasParams[_V0] | _V0, /, *args: Z.args, **kwargs: Z.kwargs) -> tuple[_V0]: ...
    @overload
    def __call__(self: _GradientOfOneTuple[_I0, _Params, _Seen1, Concatenate[_B, Any, Z], ...], a0: _B, a1: _Model[_I0, _V0], /, *args: Z.args, **kwargs: Z.kwargs) -> tuple[_V0]: ...
    @overload
    def __call__(self: _GradientOfOneTuple[_I0, _G0, _Seen1, Concatenate[_B, Any, Z], ...], a0: _B, a1: SupportsSplitPart[_I0, _G0, _V0], /, *args: Z.args, **kwargs: Z.kwargs) -> tuple[_V0]: ...
    @overload
    def __call__(self: _By1[_HasParams[_S0], object, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[_S0]: ...
    @overload
    def __call__(self: _By1[_HasParams[_S0] | None, object, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[_S0 | None]: ...
    @overload
    def __call__(self: _By1[_HasLoRA[_S0], object, type[LoRAParam[Any]]], *args: P.args, **kwargs: P.kwargs) -> tuple[_S0]: ...
    @overload
    def __call__(self: _By1[_Graph, _A0, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[State[Any, Any, _A0, type[Param[Any]]]]: ...
    @overload
    def __call__(self: _By1[_Graph, _A0, _F0], *args: P.args, **kwargs: P.kwargs) -> tuple[State[Any, Any, _A0, _F0]]: ...
    @overload
    def __call__(self: _By1[_Graph | None, _A0 | None, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[State[Any, Any, _A0, type[Param[Any]]] | None]: ...
    @overload
    def __call__(self: _By1[_Graph | None, _A0 | None, _F0], *args: P.args, **kwargs: P.kwargs) -> tuple[State[Any, Any, _A0, _F0] | None]: ...
    @overload
    def __call__(self: _By1[object, _A0, _F0], *args: P.args, **kwargs: P.kwargs) -> tuple[_A0]: ...

class _GradientAndAuxOf1(_By1[_I0, _I0, _G0], Gradient[P, Any], Generic[_I0, _G0, _N_co, P, Q, _X_co]):
    @overload
    def __call__(self: _Mypy1[_S0], *args: P.args, **kwargs: P.kwargs) -> tuple[_S0, _X_co]: ...
    @overload
    def __call__(self: _GradientAndAuxOf1[_Untyped, _Params, _Seen0, P, Q, _X_co], a0: _HasParams[_V0] | _V0, /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_V0, _X_co]: ...
    @overload
    def __call__(self: _GradientAndAuxOf1[_I0, _Params, _Seen0, P, Q, _X_co], a0: _Model[_I0, _V0], /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_V0, _X_co]: ...
    @overload
    def __call__(self: _GradientAndAuxOf1[_I0, _G0, _Seen0, P, Q, _X_co], a0: SupportsSplitPart[_I0, _G0, _V0], /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_V0, _X_co]: ...
    @overload
    def __call__(self: _GradientAndAuxOf1[_Untyped, _Params, _Seen1, Concatenate[_B, Any, Z], ..., _X_co], a0: _B, a1: _HasParams[_V0] | _V0, /, *args: Z.args, **kwargs: Z.kwargs) -> tuple[_V0, _X_co]: ...
    @overload
    def __call__(self: _GradientAndAuxOf1[_I0, _Params, _Seen1, Concatenate[_B, Any, Z], ..., _X_co], a0: _B, a1: _Model[_I0, _V0], /, *args: Z.args, **kwargs: Z.kwargs) -> tuple[_V0, _X_co]: ...
    @overload
    def __call__(self: _GradientAndAuxOf1[_I0, _G0, _Seen1, Concatenate[_B, Any, Z], ..., _X_co], a0: _B, a1: SupportsSplitPart[_I0, _G0, _V0], /, *args: Z.args, **kwargs: Z.kwargs) -> tuple[_V0, _X_co]: ...
    @overload
    def __call__(self: _By1[_HasParams[_S0], object, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[_S0, _X_co]: ...
    @overload
    def __call__(self: _By1[_HasParams[_S0] | None, object, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[_S0 | None, _X_co]: ...
    @overload
    def __call__(self: _By1[_HasLoRA[_S0], object, type[LoRAParam[Any]]], *args: P.args, **kwargs: P.kwargs) -> tuple[_S0, _X_co]: ...
    @overload
    def __call__(self: _By1[_Graph, _A0, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[State[Any, Any, _A0, type[Param[Any]]], _X_co]: ...
    @overload
    def __call__(self: _By1[_Graph, _A0, _F0], *args: P.args, **kwargs: P.kwargs) -> tuple[State[Any, Any, _A0, _F0], _X_co]: ...
    @overload
    def __call__(self: _By1[_Graph | None, _A0 | None, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[State[Any, Any, _A0, type[Param[Any]]] | None, _X_co]: ...
    @overload
    def __call__(self: _By1[_Graph | None, _A0 | None, _F0], *args: P.args, **kwargs: P.kwargs) -> tuple[State[Any, Any, _A0, _F0] | None, _X_co]: ...
    @overload
    def __call__(self: _By1[object, _A0, _F0], *args: P.args, **kwargs: P.kwargs) -> tuple[_A0, _X_co]: ...

class _GradientAndAuxOf2(_By2[_I0, _I1, _I0, _I1, _G0, _G1], Gradient[P, Any], Generic[_I0, _I1, _G0, _G1, _N_co, P, Q, _X_co]):
    @overload
    def __call__(self: _Mypy2[_S0, _S1], *args: P.args, **kwargs: P.kwargs) -> tuple[tuple[_S0, _S1], _X_co]: ...
    @overload
    def __call__(self: _GradientAndAuxOf2[_Untyped, _Untyped, _Params, _Params, _Seen01, P, Q, _X_co], a0: _HasParams[_V0] | _V0, a1: _HasParams[_V1] | _V1, /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[tuple[_V0, _V1], _X_co]: ...
    @overload
    def __call__(self: _GradientAndAuxOf2[_I0, _I1, _Params, _Params, _Seen01, P, Q, _X_co], a0: _Model[_I0, _V0], a1: _Model[_I1, _V1], /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[tuple[_V0, _V1], _X_co]: ...
    @overload
    def __call__(self: _GradientAndAuxOf2[_I0, _V1, _Params, _G1, _Seen01, P, Q, _X_co], a0: _Model[_I0, _V0], a1: _V1, /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[tuple[_V0, _V1], _X_co]: ...
    @overload
    def __call__(self: _GradientAndAuxOf2[_V0, _I1, _G0, _Params, _Seen01, P, Q, _X_co], a0: _V0, a1: _Model[_I1, _V1], /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[tuple[_V0, _V1], _X_co]: ...
    @overload
    def __call__(self: _Has2[_S0, _S1], *args: P.args, **kwargs: P.kwargs) -> tuple[tuple[_S0, _S1], _X_co]: ...

class _GradientAndAuxOfOneTuple(_By1[_I0, _I0, _G0], Gradient[P, Any], Generic[_I0, _G0, _N_co, P, Q, _X_co]):
    @overload
    def __call__(self: _Mypy1[_S0], *args: P.args, **kwargs: P.kwargs) -> tuple[tuple[_S0], _X_co]: ...
    @overload
    def __call__(self: _GradientAndAuxOfOneTuple[_Untyped, _Params, _Seen0, P, Q, _X_co], a0: _HasParams[_V0] | _V0, /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[tuple[_V0], _X_co]: ...
    @overload
    def __call__(self: _GradientAndAuxOfOneTuple[_I0, _Params, _Seen0, P, Q, _X_co], a0: _Model[_I0, _V0], /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[tuple[_V0], _X_co]: ...
    @overload
    def __call__(self: _GradientAndAuxOfOneTuple[_I0, _G0, _Seen0, P, Q, _X_co], a0: SupportsSplitPart[_I0, _G0, _V0], /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[tuple[_V0], _X_co]: ...
    @overload
    def __call__(self: _GradientAndAuxOfOneTuple[_Untyped, _Params, _Seen1, Concatenate[_B, Any, Z], ..., _X_co], a0: _B, a1: _HasParams[_V0] | _V0, /, *args: Z.args, **kwargs: Z.kwargs) -> tuple[tuple[_V0], _X_co]: ...
    @overload
    def __call__(self: _GradientAndAuxOfOneTuple[_I0, _Params, _Seen1, Concatenate[_B, Any, Z], ..., _X_co], a0: _B, a1: _Model[_I0, _V0], /, *args: Z.args, **kwargs: Z.kwargs) -> tuple[tuple[_V0], _X_co]: ...
    @overload
    def __call__(self: _GradientAndAuxOfOneTuple[_I0, _G0, _Seen1, Concatenate[_B, Any, Z], ..., _X_co], a0: _B, a1: SupportsSplitPart[_I0, _G0, _V0], /, *args: Z.args, **kwargs: Z.kwargs) -> tuple[tuple[_V0], _X_co]: ...
    @overload
    def __call__(self: _By1[_HasParams[_S0], object, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[tuple[_S0], _X_co]: ...
    @overload
    def __call__(self: _By1[_HasParams[_S0] | None, object, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[tuple[_S0 | None], _X_co]: ...
    @overload
    def __call__(self: _By1[_HasLoRA[_S0], object, type[LoRAParam[Any]]], *args: P.args, **kwargs: P.kwargs) -> tuple[tuple[_S0], _X_co]: ...
    @overload
    def __call__(self: _By1[_Graph, _A0, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[tuple[State[Any, Any, _A0, type[Param[Any]]]], _X_co]: ...
    @overload
    def __call__(self: _By1[_Graph, _A0, _F0], *args: P.args, **kwargs: P.kwargs) -> tuple[tuple[State[Any, Any, _A0, _F0]], _X_co]: ...
    @overload
    def __call__(self: _By1[_Graph | None, _A0 | None, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[tuple[State[Any, Any, _A0, type[Param[Any]]] | None], _X_co]: ...
    @overload
    def __call__(self: _By1[_Graph | None, _A0 | None, _F0], *args: P.args, **kwargs: P.kwargs) -> tuple[tuple[State[Any, Any, _A0, _F0] | None], _X_co]: ...
    @overload
    def __call__(self: _By1[object, _A0, _F0], *args: P.args, **kwargs: P.kwargs) -> tuple[tuple[_A0], _X_co]: ...

class _ValueAndGradientOf1(_By1[_I0, _I0, _G0], ValueAndGradient[P, Any], Generic[_I0, _G0, _N_co, P, Q, _R_co]):
    @overload
    def __call__(self: _Mypy1[_S0], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, _S0]: ...
    @overload
    def __call__(self: _ValueAndGradientOf1[_Untyped, _Params, _Seen0, P, Q, _R_co], a0: _HasParams[_V0] | _V0, /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_R_co, _V0]: ...
    @overload
    def __call__(self: _ValueAndGradientOf1[_I0, _Params, _Seen0, P, Q, _R_co], a0: _Model[_I0, _V0], /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_R_co, _V0]: ...
    @overload
    def __call__(self: _ValueAndGradientOf1[_I0, _G0, _Seen0, P, Q, _R_co], a0: SupportsSplitPart[_I0, _G0, _V0], /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_R_co, _V0]: ...
    @overload
    def __call__(self: _ValueAndGradientOf1[_Untyped, _Params, _Seen1, Concatenate[_B, Any, Z], ..., _R_co], a0: _B, a1: _HasParams[_V0] | _V0, /, *args: Z.args, **kwargs: Z.kwargs) -> tuple[_R_co, _V0]: ...
    @overload
    def __call__(self: _ValueAndGradientOf1[_I0, _Params, _Seen1, Concatenate[_B, Any, Z], ..., _R_co], a0: _B, a1: _Model[_I0, _V0], /, *args: Z.args, **kwargs: Z.kwargs) -> tuple[_R_co, _V0]: ...
    @overload
    def __call__(self: _ValueAndGradientOf1[_I0, _G0, _Seen1, Concatenate[_B, Any, Z], ..., _R_co], a0: _B, a1: SupportsSplitPart[_I0, _G0, _V0], /, *args: Z.args, **kwargs: Z.kwargs) -> tuple[_R_co, _V0]: ...
    @overload
    def __call__(self: _By1[_HasParams[_S0], object, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, _S0]: ...
    @overload
    def __call__(self: _By1[_HasParams[_S0] | None, object, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, _S0 | None]: ...
    @overload
    def __call__(self: _By1[_HasLoRA[_S0], object, type[LoRAParam[Any]]], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, _S0]: ...
    @overload
    def __call__(self: _By1[_Graph, _A0, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, State[Any, Any, _A0, type[Param[Any]]]]: ...
    @overload
    def __call__(self: _By1[_Graph, _A0, _F0], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, State[Any, Any, _A0, _F0]]: ...
    @overload
    def __call__(self: _By1[_Graph | None, _A0 | None, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, State[Any, Any, _A0, type[Param[Any]]] | None]: ...
    @overload
    def __call__(self: _By1[_Graph | None, _A0 | None, _F0], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, State[Any, Any, _A0, _F0] | None]: ...
    @overload
    def __call__(self: _By1[object, _A0, _F0], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, _A0]: ...

class _ValueAndGradientOf2(_By2[_I0, _I1, _I0, _I1, _G0, _G1], ValueAndGradient[P, Any], Generic[_I0, _I1, _G0, _G1, _N_co, P, Q, _R_co]):
    @overload
    def __call__(self: _Mypy2[_S0, _S1], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, tuple[_S0, _S1]]: ...
    @overload
    def __call__(self: _ValueAndGradientOf2[_Untyped, _Untyped, _Params, _Params, _Seen01, P, Q, _R_co], a0: _HasParams[_V0] | _V0, a1: _HasParams[_V1] | _V1, /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_R_co, tuple[_V0, _V1]]: ...
    @overload
    def __call__(self: _ValueAndGradientOf2[_I0, _I1, _Params, _Params, _Seen01, P, Q, _R_co], a0: _Model[_I0, _V0], a1: _Model[_I1, _V1], /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_R_co, tuple[_V0, _V1]]: ...
    @overload
    def __call__(self: _ValueAndGradientOf2[_I0, _V1, _Params, _G1, _Seen01, P, Q, _R_co], a0: _Model[_I0, _V0], a1: _V1, /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_R_co, tuple[_V0, _V1]]: ...
    @overload
    def __call__(self: _ValueAndGradientOf2[_V0, _I1, _G0, _Params, _Seen01, P, Q, _R_co], a0: _V0, a1: _Model[_I1, _V1], /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_R_co, tuple[_V0, _V1]]: ...
    @overload
    def __call__(self: _Has2[_S0, _S1], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, tuple[_S0, _S1]]: ...

class _ValueAndGradientOfOneTuple(_By1[_I0, _I0, _G0], ValueAndGradient[P, Any], Generic[_I0, _G0, _N_co, P, Q, _R_co]):
    @overload
    def __call__(self: _Mypy1[_S0], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, tuple[_S0]]: ...
    @overload
    def __call__(self: _ValueAndGradientOfOneTuple[_Untyped, _Params, _Seen0, P, Q, _R_co], a0: _HasParams[_V0] | _V0, /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_R_co, tuple[_V0]]: ...
    @overload
    def __call__(self: _ValueAndGradientOfOneTuple[_I0, _Params, _Seen0, P, Q, _R_co], a0: _Model[_I0, _V0], /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_R_co, tuple[_V0]]: ...
    @overload
    def __call__(self: _ValueAndGradientOfOneTuple[_I0, _G0, _Seen0, P, Q, _R_co], a0: SupportsSplitPart[_I0, _G0, _V0], /, *args: Q.args, **kwargs: Q.kwargs) -> tuple[_R_co, tuple[_V0]]: ...
    @overload
    def __call__(self: _ValueAndGradientOfOneTuple[_Untyped, _Params, _Seen1, Concatenate[_B, Any, Z], ..., _R_co], a0: _B, a1: _HasParams[_V0] | _V0, /, *args: Z.args, **kwargs: Z.kwargs) -> tuple[_R_co, tuple[_V0]]: ...
    @overload
    def __call__(self: _ValueAndGradientOfOneTuple[_I0, _Params, _Seen1, Concatenate[_B, Any, Z], ..., _R_co], a0: _B, a1: _Model[_I0, _V0], /, *args: Z.args, **kwargs: Z.kwargs) -> tuple[_R_co, tuple[_V0]]: ...
    @overload
    def __call__(self: _ValueAndGradientOfOneTuple[_I0, _G0, _Seen1, Concatenate[_B, Any, Z], ..., _R_co], a0: _B, a1: SupportsSplitPart[_I0, _G0, _V0], /, *args: Z.args, **kwargs: Z.kwargs) -> tuple[_R_co, tuple[_V0]]: ...
    @overload
    def __call__(self: _By1[_HasParams[_S0], object, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, tuple[_S0]]: ...
    @overload
    def __call__(self: _By1[_HasParams[_S0] | None, object, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, tuple[_S0 | None]]: ...
    @overload
    def __call__(self: _By1[_HasLoRA[_S0], object, type[LoRAParam[Any]]], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, tuple[_S0]]: ...
    @overload
    def __call__(self: _By1[_Graph, _A0, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, tuple[State[Any, Any, _A0, type[Param[Any]]]]]: ...
    @overload
    def __call__(self: _By1[_Graph, _A0, _F0], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, tuple[State[Any, Any, _A0, _F0]]]: ...
    @overload
    def __call__(self: _By1[_Graph | None, _A0 | None, _Params], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, tuple[State[Any, Any, _A0, type[Param[Any]]] | None]]: ...
    @overload
    def __call__(self: _By1[_Graph | None, _A0 | None, _F0], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, tuple[State[Any, Any, _A0, _F0] | None]]: ...
    @overload
    def __call__(self: _By1[object, _A0, _F0], *args: P.args, **kwargs: P.kwargs) -> tuple[_R_co, tuple[_A0]]: ...

if not MYPY:
    @overload
    def grad(f: _OfLoss[_P, _Q, _A0, _Loss] | _NoFunction, *, argnums: Literal[0] | DiffState[Literal[0], _F0] = ..., has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ...) -> _GradientOf1[_A0, _F0, _At0, _P, _Q]:
        """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays.

        The gradient with respect to a Module is a State of its Params; to arrays it is arrays. With
        ``graph_updates=False`` it is a Module, with the gradients of all Variables.

        >>> import jax.numpy as jnp
        >>> weight = Param(jnp.array(3.0))
        >>> float(grad(lambda weight: weight**2)(weight)[...])
        6.0

        Args:
            f: A function that returns a float scalar. Without it a decorator is returned.
            argnums: The argument or arguments to differentiate: positions, or `DiffState` to choose
                other Variables than Params.
            has_aux: The function returns ``(value, aux)``.
            holomorphic: The function is holomorphic, of complex numbers.
            allow_int: Integer values get gradients of the dtype float0.
            reduce_axes: Axes over which gradients are summed.
            graph: False asserts that the arguments are trees, without shared references.
            graph_updates: False asserts that structures stay as they are.

        Raises:
            ResultError: The function did not return a scalar, or with has_aux, it did not return a
                pair.
            ArgumentError: There is no such argument.
            PrefixConflictError: A differentiated Variable is in another argument too.

        Returns:
            A function of the same arguments: the gradients, with has_aux ``(gradients, aux)``.
        """
    @overload
    def grad(f: Callable[..., tuple[Any, ...]], *, argnums: Literal[0] | DiffState[Literal[0], _F0] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ...) -> _HasAuxIsMissing: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _AnyFunction, *, argnums: DiffArgs = ..., has_aux: bool = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Gradient[..., Any]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn0[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[0] = ..., has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> Gradient[_P, _A0]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn0[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[0] = ..., has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> Gradient[_P, tuple[_A0, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn1[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[1], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> Gradient[_P, _A0]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn1[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[1], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> Gradient[_P, tuple[_A0, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn2[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[2], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> Gradient[_P, _A0]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn2[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[2], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> Gradient[_P, tuple[_A0, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn3[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[3], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> Gradient[_P, _A0]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn3[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[3], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> Gradient[_P, tuple[_A0, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: Callable[_P, Any], *, argnums: tuple[Any, ...] | list[Any], has_aux: bool = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> Gradient[_P, Any]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: DiffArgs = ..., has_aux: bool = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> Callable[[Callable[_P, Any]], Gradient[_P, Any]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn0[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[0] = ..., has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> Gradient[_P, _A0]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn0[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[0] = ..., has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> Gradient[_P, tuple[_A0, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn1[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[1], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> Gradient[_P, _A0]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn1[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[1], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> Gradient[_P, tuple[_A0, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn2[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[2], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> Gradient[_P, _A0]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn2[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[2], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> Gradient[_P, tuple[_A0, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn3[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[3], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> Gradient[_P, _A0]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn3[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[3], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> Gradient[_P, tuple[_A0, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: Callable[_P, Any], *, argnums: tuple[Any, ...] | list[Any], has_aux: bool = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> Gradient[_P, Any]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: DiffArgs = ..., has_aux: bool = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> Callable[[Callable[_P, Any]], Gradient[_P, Any]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn0[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[0] | DiffState[Literal[0], _F0] = ..., has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientOf1[_A0, _F0, _At0, _P, _Q]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn0[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[0] | DiffState[Literal[0], _F0] = ..., has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientAndAuxOf1[_A0, _F0, _At0, _P, _Q, _X]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn1[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[1] | DiffState[Literal[1], _F0], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientOf1[_A0, _F0, _At1, _P, _Q]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn1[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[1] | DiffState[Literal[1], _F0], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientAndAuxOf1[_A0, _F0, _At1, _P, _Q, _X]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn2[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[2] | DiffState[Literal[2], _F0], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientOf1[_A0, _F0, _At2, _P, _Q]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn2[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[2] | DiffState[Literal[2], _F0], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientAndAuxOf1[_A0, _F0, _At2, _P, _Q, _X]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn3[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[3] | DiffState[Literal[3], _F0], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientOf1[_A0, _F0, _At3, _P, _Q]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn3[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[3] | DiffState[Literal[3], _F0], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientAndAuxOf1[_A0, _F0, _At3, _P, _Q, _X]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn0[_P, _Q, _A0, _R] | _NoFunction, *, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientOfOneTuple[_A0, _F0, _At0, _P, _Q]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn0[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientAndAuxOfOneTuple[_A0, _F0, _At0, _P, _Q, _X]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn1[_P, _Q, _A0, _R] | _NoFunction, *, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientOfOneTuple[_A0, _F0, _At1, _P, _Q]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn1[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientAndAuxOfOneTuple[_A0, _F0, _At1, _P, _Q, _X]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn2[_P, _Q, _A0, _R] | _NoFunction, *, argnums: tuple[Literal[2] | DiffState[Literal[2], _F0]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientOfOneTuple[_A0, _F0, _At2, _P, _Q]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn2[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[2] | DiffState[Literal[2], _F0]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientAndAuxOfOneTuple[_A0, _F0, _At2, _P, _Q, _X]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn3[_P, _Q, _A0, _R] | _NoFunction, *, argnums: tuple[Literal[3] | DiffState[Literal[3], _F0]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientOfOneTuple[_A0, _F0, _At3, _P, _Q]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn3[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[3] | DiffState[Literal[3], _F0]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientAndAuxOfOneTuple[_A0, _F0, _At3, _P, _Q, _X]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn01[_P, _Q, _A0, _A1, _R] | _NoFunction, *, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[1] | DiffState[Literal[1], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientOf2[_A0, _A1, _F0, _F1, _At01, _P, _Q]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn01[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[1] | DiffState[Literal[1], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientAndAuxOf2[_A0, _A1, _F0, _F1, _At01, _P, _Q, _X]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn02[_P, _Q, _A0, _A1, _R] | _NoFunction, *, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[2] | DiffState[Literal[2], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientOf2[_A0, _A1, _F0, _F1, _At02, _P, _Q]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn02[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[2] | DiffState[Literal[2], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientAndAuxOf2[_A0, _A1, _F0, _F1, _At02, _P, _Q, _X]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn03[_P, _Q, _A0, _A1, _R] | _NoFunction, *, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientOf2[_A0, _A1, _F0, _F1, _At03, _P, _Q]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn03[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientAndAuxOf2[_A0, _A1, _F0, _F1, _At03, _P, _Q, _X]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn12[_P, _Q, _A0, _A1, _R] | _NoFunction, *, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[2] | DiffState[Literal[2], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientOf2[_A0, _A1, _F0, _F1, _At12, _P, _Q]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn12[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[2] | DiffState[Literal[2], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientAndAuxOf2[_A0, _A1, _F0, _F1, _At12, _P, _Q, _X]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn13[_P, _Q, _A0, _A1, _R] | _NoFunction, *, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientOf2[_A0, _A1, _F0, _F1, _At13, _P, _Q]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn13[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientAndAuxOf2[_A0, _A1, _F0, _F1, _At13, _P, _Q, _X]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn23[_P, _Q, _A0, _A1, _R] | _NoFunction, *, argnums: tuple[Literal[2] | DiffState[Literal[2], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientOf2[_A0, _A1, _F0, _F1, _At23, _P, _Q]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn23[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[2] | DiffState[Literal[2], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientAndAuxOf2[_A0, _A1, _F0, _F1, _At23, _P, _Q, _X]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn10[_P, _Q, _A0, _A1, _R] | _NoFunction, *, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[0] | DiffState[Literal[0], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientOf2[_A0, _A1, _F0, _F1, _At10, _P, _Q]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn10[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[0] | DiffState[Literal[0], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _GradientAndAuxOf2[_A0, _A1, _F0, _F1, _At10, _P, _Q, _X]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: Literal[0] | DiffState[Literal[0], _F0] = ..., has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn0[_P, _Q, _A0, _R] | _NoFunction], _GradientOf1[_A0, _F0, _At0, _P, _Q]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: Literal[0] | DiffState[Literal[0], _F0] = ..., has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn0[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction], _GradientAndAuxOf1[_A0, _F0, _At0, _P, _Q, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: Literal[1] | DiffState[Literal[1], _F0], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn1[_P, _Q, _A0, _R] | _NoFunction], _GradientOf1[_A0, _F0, _At1, _P, _Q]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: Literal[1] | DiffState[Literal[1], _F0], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn1[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction], _GradientAndAuxOf1[_A0, _F0, _At1, _P, _Q, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: Literal[2] | DiffState[Literal[2], _F0], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn2[_P, _Q, _A0, _R] | _NoFunction], _GradientOf1[_A0, _F0, _At2, _P, _Q]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: Literal[2] | DiffState[Literal[2], _F0], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn2[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction], _GradientAndAuxOf1[_A0, _F0, _At2, _P, _Q, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: Literal[3] | DiffState[Literal[3], _F0], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn3[_P, _Q, _A0, _R] | _NoFunction], _GradientOf1[_A0, _F0, _At3, _P, _Q]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: Literal[3] | DiffState[Literal[3], _F0], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn3[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction], _GradientAndAuxOf1[_A0, _F0, _At3, _P, _Q, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn0[_P, _Q, _A0, _R] | _NoFunction], _GradientOfOneTuple[_A0, _F0, _At0, _P, _Q]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn0[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction], _GradientAndAuxOfOneTuple[_A0, _F0, _At0, _P, _Q, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn1[_P, _Q, _A0, _R] | _NoFunction], _GradientOfOneTuple[_A0, _F0, _At1, _P, _Q]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn1[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction], _GradientAndAuxOfOneTuple[_A0, _F0, _At1, _P, _Q, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[2] | DiffState[Literal[2], _F0]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn2[_P, _Q, _A0, _R] | _NoFunction], _GradientOfOneTuple[_A0, _F0, _At2, _P, _Q]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[2] | DiffState[Literal[2], _F0]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn2[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction], _GradientAndAuxOfOneTuple[_A0, _F0, _At2, _P, _Q, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[3] | DiffState[Literal[3], _F0]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn3[_P, _Q, _A0, _R] | _NoFunction], _GradientOfOneTuple[_A0, _F0, _At3, _P, _Q]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[3] | DiffState[Literal[3], _F0]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn3[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction], _GradientAndAuxOfOneTuple[_A0, _F0, _At3, _P, _Q, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[1] | DiffState[Literal[1], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn01[_P, _Q, _A0, _A1, _R] | _NoFunction], _GradientOf2[_A0, _A1, _F0, _F1, _At01, _P, _Q]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[1] | DiffState[Literal[1], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn01[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction], _GradientAndAuxOf2[_A0, _A1, _F0, _F1, _At01, _P, _Q, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[2] | DiffState[Literal[2], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn02[_P, _Q, _A0, _A1, _R] | _NoFunction], _GradientOf2[_A0, _A1, _F0, _F1, _At02, _P, _Q]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[2] | DiffState[Literal[2], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn02[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction], _GradientAndAuxOf2[_A0, _A1, _F0, _F1, _At02, _P, _Q, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn03[_P, _Q, _A0, _A1, _R] | _NoFunction], _GradientOf2[_A0, _A1, _F0, _F1, _At03, _P, _Q]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn03[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction], _GradientAndAuxOf2[_A0, _A1, _F0, _F1, _At03, _P, _Q, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[2] | DiffState[Literal[2], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn12[_P, _Q, _A0, _A1, _R] | _NoFunction], _GradientOf2[_A0, _A1, _F0, _F1, _At12, _P, _Q]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[2] | DiffState[Literal[2], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn12[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction], _GradientAndAuxOf2[_A0, _A1, _F0, _F1, _At12, _P, _Q, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn13[_P, _Q, _A0, _A1, _R] | _NoFunction], _GradientOf2[_A0, _A1, _F0, _F1, _At13, _P, _Q]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn13[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction], _GradientAndAuxOf2[_A0, _A1, _F0, _F1, _At13, _P, _Q, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[2] | DiffState[Literal[2], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn23[_P, _Q, _A0, _A1, _R] | _NoFunction], _GradientOf2[_A0, _A1, _F0, _F1, _At23, _P, _Q]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[2] | DiffState[Literal[2], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn23[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction], _GradientAndAuxOf2[_A0, _A1, _F0, _F1, _At23, _P, _Q, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[0] | DiffState[Literal[0], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn10[_P, _Q, _A0, _A1, _R] | _NoFunction], _GradientOf2[_A0, _A1, _F0, _F1, _At10, _P, _Q]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[0] | DiffState[Literal[0], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn10[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction], _GradientAndAuxOf2[_A0, _A1, _F0, _F1, _At10, _P, _Q, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn2[_P, _Q, Any, _R] | _NoFunction, *, argnums: tuple[_Position, _Position, _Position], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Gradient[_P, tuple[Any, Any, Any]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[_Position, _Position, _Position], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn2[_P, _Q, Any, _R] | _NoFunction], Gradient[_P, tuple[Any, Any, Any]]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn2[_P, _Q, Any, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[_Position, _Position, _Position], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Gradient[_P, tuple[tuple[Any, Any, Any], _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[_Position, _Position, _Position], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn2[_P, _Q, Any, tuple[_R, _X]] | _NoFunction], Gradient[_P, tuple[tuple[Any, Any, Any], _X]]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn3[_P, _Q, Any, _R] | _NoFunction, *, argnums: tuple[_Position, _Position, _Position, _Position], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Gradient[_P, tuple[Any, Any, Any, Any]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[_Position, _Position, _Position, _Position], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn3[_P, _Q, Any, _R] | _NoFunction], Gradient[_P, tuple[Any, Any, Any, Any]]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: _Fn3[_P, _Q, Any, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[_Position, _Position, _Position, _Position], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Gradient[_P, tuple[tuple[Any, Any, Any, Any], _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: tuple[_Position, _Position, _Position, _Position], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn3[_P, _Q, Any, tuple[_R, _X]] | _NoFunction], Gradient[_P, tuple[tuple[Any, Any, Any, Any], _X]]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: Callable[_P, _R], *, argnums: Literal[-1, -2, -3, -4, 4, 5, 6, 7] | DiffState[int, Any] | tuple[Literal[2, 3], Literal[0]] | tuple[Literal[2, 3], Literal[1]] | tuple[Literal[3], Literal[2]] | list[int] | list[DiffState[Any, Any]] | list[int | DiffState[Any, Any]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Gradient[_P, Any]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: Literal[-1, -2, -3, -4, 4, 5, 6, 7] | DiffState[int, Any] | tuple[Literal[2, 3], Literal[0]] | tuple[Literal[2, 3], Literal[1]] | tuple[Literal[3], Literal[2]] | list[int] | list[DiffState[Any, Any]] | list[int | DiffState[Any, Any]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[Callable[_P, _R]], Gradient[_P, Any]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(f: Callable[_P, tuple[_R, _X]], *, argnums: Literal[-1, -2, -3, -4, 4, 5, 6, 7] | DiffState[int, Any] | tuple[Literal[2, 3], Literal[0]] | tuple[Literal[2, 3], Literal[1]] | tuple[Literal[3], Literal[2]] | list[int] | list[DiffState[Any, Any]] | list[int | DiffState[Any, Any]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Gradient[_P, tuple[Any, _X]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""
@overload
def grad(*, argnums: Literal[-1, -2, -3, -4, 4, 5, 6, 7] | DiffState[int, Any] | tuple[Literal[2, 3], Literal[0]] | tuple[Literal[2, 3], Literal[1]] | tuple[Literal[3], Literal[2]] | list[int] | list[DiffState[Any, Any]] | list[int | DiffState[Any, Any]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[Callable[_P, tuple[_R, _X]]], Gradient[_P, tuple[Any, _X]]]: """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays."""

if not MYPY:
    @overload
    def value_and_grad(f: _OfLoss[_P, _Q, _A0, _Loss] | _NoFunction, *, argnums: Literal[0] | DiffState[Literal[0], _F0] = ..., has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ...) -> _ValueAndGradientOf1[_A0, _F0, _At0, _P, _Q, _Loss]:
        """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays.

        The gradient with respect to a Module is a State of its Params; to arrays it is arrays. With
        ``graph_updates=False`` it is a Module, with the gradients of all Variables.

        >>> import jax.numpy as jnp
        >>> weight = Param(jnp.array(3.0))
        >>> loss, gradient = value_and_grad(lambda weight: weight**2)(weight)
        >>> float(loss), float(gradient[...])
        (9.0, 6.0)

        Args:
            f: A function that returns a float scalar. Without it a decorator is returned.
            argnums: The argument or arguments to differentiate: positions, or `DiffState` to choose
                other Variables than Params.
            has_aux: The function returns ``(value, aux)``.
            holomorphic: The function is holomorphic, of complex numbers.
            allow_int: Integer values get gradients of the dtype float0.
            reduce_axes: Axes over which gradients are summed.
            graph: False asserts that the arguments are trees, without shared references.
            graph_updates: False asserts that structures stay as they are.

        Raises:
            ResultError: The function did not return a scalar, or with has_aux, it did not return a
                pair.
            ArgumentError: There is no such argument.
            PrefixConflictError: A differentiated Variable is in another argument too.

        Returns:
            A function of the same arguments that returns ``(value, gradients)``, with has_aux
            ``((value, aux), gradients)``.
        """
    @overload
    def value_and_grad(f: Callable[..., tuple[Any, ...]], *, argnums: Literal[0] | DiffState[Literal[0], _F0] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ...) -> _HasAuxIsMissing: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _AnyFunction, *, argnums: DiffArgs = ..., has_aux: bool = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> ValueAndGradient[..., Any]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn0[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[0] = ..., has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> ValueAndGradient[_P, tuple[_R, _A0]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn0[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[0] = ..., has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> ValueAndGradient[_P, tuple[tuple[_R, _X], _A0]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn1[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[1], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> ValueAndGradient[_P, tuple[_R, _A0]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn1[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[1], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> ValueAndGradient[_P, tuple[tuple[_R, _X], _A0]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn2[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[2], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> ValueAndGradient[_P, tuple[_R, _A0]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn2[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[2], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> ValueAndGradient[_P, tuple[tuple[_R, _X], _A0]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn3[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[3], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> ValueAndGradient[_P, tuple[_R, _A0]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn3[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[3], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> ValueAndGradient[_P, tuple[tuple[_R, _X], _A0]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: Callable[_P, Any], *, argnums: tuple[Any, ...] | list[Any], has_aux: bool = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> ValueAndGradient[_P, Any]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: DiffArgs = ..., has_aux: bool = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: Literal[False], graph_updates: bool | None = ...) -> Callable[[Callable[_P, Any]], ValueAndGradient[_P, Any]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn0[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[0] = ..., has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> ValueAndGradient[_P, tuple[_R, _A0]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn0[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[0] = ..., has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> ValueAndGradient[_P, tuple[tuple[_R, _X], _A0]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn1[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[1], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> ValueAndGradient[_P, tuple[_R, _A0]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn1[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[1], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> ValueAndGradient[_P, tuple[tuple[_R, _X], _A0]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn2[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[2], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> ValueAndGradient[_P, tuple[_R, _A0]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn2[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[2], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> ValueAndGradient[_P, tuple[tuple[_R, _X], _A0]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn3[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[3], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> ValueAndGradient[_P, tuple[_R, _A0]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn3[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[3], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> ValueAndGradient[_P, tuple[tuple[_R, _X], _A0]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: Callable[_P, Any], *, argnums: tuple[Any, ...] | list[Any], has_aux: bool = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> ValueAndGradient[_P, Any]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: DiffArgs = ..., has_aux: bool = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: Literal[False]) -> Callable[[Callable[_P, Any]], ValueAndGradient[_P, Any]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn0[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[0] | DiffState[Literal[0], _F0] = ..., has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf1[_A0, _F0, _At0, _P, _Q, _R]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn0[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[0] | DiffState[Literal[0], _F0] = ..., has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf1[_A0, _F0, _At0, _P, _Q, tuple[_R, _X]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn1[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[1] | DiffState[Literal[1], _F0], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf1[_A0, _F0, _At1, _P, _Q, _R]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn1[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[1] | DiffState[Literal[1], _F0], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf1[_A0, _F0, _At1, _P, _Q, tuple[_R, _X]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn2[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[2] | DiffState[Literal[2], _F0], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf1[_A0, _F0, _At2, _P, _Q, _R]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn2[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[2] | DiffState[Literal[2], _F0], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf1[_A0, _F0, _At2, _P, _Q, tuple[_R, _X]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn3[_P, _Q, _A0, _R] | _NoFunction, *, argnums: Literal[3] | DiffState[Literal[3], _F0], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf1[_A0, _F0, _At3, _P, _Q, _R]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn3[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: Literal[3] | DiffState[Literal[3], _F0], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf1[_A0, _F0, _At3, _P, _Q, tuple[_R, _X]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn0[_P, _Q, _A0, _R] | _NoFunction, *, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOfOneTuple[_A0, _F0, _At0, _P, _Q, _R]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn0[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOfOneTuple[_A0, _F0, _At0, _P, _Q, tuple[_R, _X]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn1[_P, _Q, _A0, _R] | _NoFunction, *, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOfOneTuple[_A0, _F0, _At1, _P, _Q, _R]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn1[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOfOneTuple[_A0, _F0, _At1, _P, _Q, tuple[_R, _X]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn2[_P, _Q, _A0, _R] | _NoFunction, *, argnums: tuple[Literal[2] | DiffState[Literal[2], _F0]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOfOneTuple[_A0, _F0, _At2, _P, _Q, _R]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn2[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[2] | DiffState[Literal[2], _F0]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOfOneTuple[_A0, _F0, _At2, _P, _Q, tuple[_R, _X]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn3[_P, _Q, _A0, _R] | _NoFunction, *, argnums: tuple[Literal[3] | DiffState[Literal[3], _F0]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOfOneTuple[_A0, _F0, _At3, _P, _Q, _R]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn3[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[3] | DiffState[Literal[3], _F0]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOfOneTuple[_A0, _F0, _At3, _P, _Q, tuple[_R, _X]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn01[_P, _Q, _A0, _A1, _R] | _NoFunction, *, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[1] | DiffState[Literal[1], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At01, _P, _Q, _R]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn01[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[1] | DiffState[Literal[1], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At01, _P, _Q, tuple[_R, _X]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn02[_P, _Q, _A0, _A1, _R] | _NoFunction, *, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[2] | DiffState[Literal[2], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At02, _P, _Q, _R]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn02[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[2] | DiffState[Literal[2], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At02, _P, _Q, tuple[_R, _X]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn03[_P, _Q, _A0, _A1, _R] | _NoFunction, *, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At03, _P, _Q, _R]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn03[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At03, _P, _Q, tuple[_R, _X]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn12[_P, _Q, _A0, _A1, _R] | _NoFunction, *, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[2] | DiffState[Literal[2], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At12, _P, _Q, _R]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn12[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[2] | DiffState[Literal[2], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At12, _P, _Q, tuple[_R, _X]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn13[_P, _Q, _A0, _A1, _R] | _NoFunction, *, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At13, _P, _Q, _R]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn13[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At13, _P, _Q, tuple[_R, _X]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn23[_P, _Q, _A0, _A1, _R] | _NoFunction, *, argnums: tuple[Literal[2] | DiffState[Literal[2], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At23, _P, _Q, _R]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn23[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[2] | DiffState[Literal[2], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At23, _P, _Q, tuple[_R, _X]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn10[_P, _Q, _A0, _A1, _R] | _NoFunction, *, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[0] | DiffState[Literal[0], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At10, _P, _Q, _R]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn10[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[0] | DiffState[Literal[0], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At10, _P, _Q, tuple[_R, _X]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: Literal[0] | DiffState[Literal[0], _F0] = ..., has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn0[_P, _Q, _A0, _R] | _NoFunction], _ValueAndGradientOf1[_A0, _F0, _At0, _P, _Q, _R]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: Literal[0] | DiffState[Literal[0], _F0] = ..., has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn0[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction], _ValueAndGradientOf1[_A0, _F0, _At0, _P, _Q, tuple[_R, _X]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: Literal[1] | DiffState[Literal[1], _F0], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn1[_P, _Q, _A0, _R] | _NoFunction], _ValueAndGradientOf1[_A0, _F0, _At1, _P, _Q, _R]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: Literal[1] | DiffState[Literal[1], _F0], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn1[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction], _ValueAndGradientOf1[_A0, _F0, _At1, _P, _Q, tuple[_R, _X]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: Literal[2] | DiffState[Literal[2], _F0], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn2[_P, _Q, _A0, _R] | _NoFunction], _ValueAndGradientOf1[_A0, _F0, _At2, _P, _Q, _R]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: Literal[2] | DiffState[Literal[2], _F0], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn2[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction], _ValueAndGradientOf1[_A0, _F0, _At2, _P, _Q, tuple[_R, _X]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: Literal[3] | DiffState[Literal[3], _F0], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn3[_P, _Q, _A0, _R] | _NoFunction], _ValueAndGradientOf1[_A0, _F0, _At3, _P, _Q, _R]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: Literal[3] | DiffState[Literal[3], _F0], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn3[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction], _ValueAndGradientOf1[_A0, _F0, _At3, _P, _Q, tuple[_R, _X]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn0[_P, _Q, _A0, _R] | _NoFunction], _ValueAndGradientOfOneTuple[_A0, _F0, _At0, _P, _Q, _R]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn0[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction], _ValueAndGradientOfOneTuple[_A0, _F0, _At0, _P, _Q, tuple[_R, _X]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn1[_P, _Q, _A0, _R] | _NoFunction], _ValueAndGradientOfOneTuple[_A0, _F0, _At1, _P, _Q, _R]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn1[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction], _ValueAndGradientOfOneTuple[_A0, _F0, _At1, _P, _Q, tuple[_R, _X]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[2] | DiffState[Literal[2], _F0]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn2[_P, _Q, _A0, _R] | _NoFunction], _ValueAndGradientOfOneTuple[_A0, _F0, _At2, _P, _Q, _R]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[2] | DiffState[Literal[2], _F0]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn2[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction], _ValueAndGradientOfOneTuple[_A0, _F0, _At2, _P, _Q, tuple[_R, _X]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[3] | DiffState[Literal[3], _F0]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn3[_P, _Q, _A0, _R] | _NoFunction], _ValueAndGradientOfOneTuple[_A0, _F0, _At3, _P, _Q, _R]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[3] | DiffState[Literal[3], _F0]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn3[_P, _Q, _A0, tuple[_R, _X]] | _NoFunction], _ValueAndGradientOfOneTuple[_A0, _F0, _At3, _P, _Q, tuple[_R, _X]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[1] | DiffState[Literal[1], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn01[_P, _Q, _A0, _A1, _R] | _NoFunction], _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At01, _P, _Q, _R]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[1] | DiffState[Literal[1], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn01[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction], _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At01, _P, _Q, tuple[_R, _X]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[2] | DiffState[Literal[2], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn02[_P, _Q, _A0, _A1, _R] | _NoFunction], _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At02, _P, _Q, _R]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[2] | DiffState[Literal[2], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn02[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction], _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At02, _P, _Q, tuple[_R, _X]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn03[_P, _Q, _A0, _A1, _R] | _NoFunction], _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At03, _P, _Q, _R]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[0] | DiffState[Literal[0], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn03[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction], _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At03, _P, _Q, tuple[_R, _X]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[2] | DiffState[Literal[2], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn12[_P, _Q, _A0, _A1, _R] | _NoFunction], _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At12, _P, _Q, _R]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[2] | DiffState[Literal[2], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn12[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction], _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At12, _P, _Q, tuple[_R, _X]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn13[_P, _Q, _A0, _A1, _R] | _NoFunction], _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At13, _P, _Q, _R]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn13[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction], _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At13, _P, _Q, tuple[_R, _X]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[2] | DiffState[Literal[2], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn23[_P, _Q, _A0, _A1, _R] | _NoFunction], _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At23, _P, _Q, _R]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[2] | DiffState[Literal[2], _F0], Literal[3] | DiffState[Literal[3], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn23[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction], _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At23, _P, _Q, tuple[_R, _X]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[0] | DiffState[Literal[0], _F1]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn10[_P, _Q, _A0, _A1, _R] | _NoFunction], _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At10, _P, _Q, _R]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[Literal[1] | DiffState[Literal[1], _F0], Literal[0] | DiffState[Literal[0], _F1]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn10[_P, _Q, _A0, _A1, tuple[_R, _X]] | _NoFunction], _ValueAndGradientOf2[_A0, _A1, _F0, _F1, _At10, _P, _Q, tuple[_R, _X]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn2[_P, _Q, Any, _R] | _NoFunction, *, argnums: tuple[_Position, _Position, _Position], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> ValueAndGradient[_P, tuple[_R, tuple[Any, Any, Any]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[_Position, _Position, _Position], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn2[_P, _Q, Any, _R] | _NoFunction], ValueAndGradient[_P, tuple[_R, tuple[Any, Any, Any]]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn2[_P, _Q, Any, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[_Position, _Position, _Position], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> ValueAndGradient[_P, tuple[tuple[_R, _X], tuple[Any, Any, Any]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[_Position, _Position, _Position], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn2[_P, _Q, Any, tuple[_R, _X]] | _NoFunction], ValueAndGradient[_P, tuple[tuple[_R, _X], tuple[Any, Any, Any]]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn3[_P, _Q, Any, _R] | _NoFunction, *, argnums: tuple[_Position, _Position, _Position, _Position], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> ValueAndGradient[_P, tuple[_R, tuple[Any, Any, Any, Any]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[_Position, _Position, _Position, _Position], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn3[_P, _Q, Any, _R] | _NoFunction], ValueAndGradient[_P, tuple[_R, tuple[Any, Any, Any, Any]]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: _Fn3[_P, _Q, Any, tuple[_R, _X]] | _NoFunction, *, argnums: tuple[_Position, _Position, _Position, _Position], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> ValueAndGradient[_P, tuple[tuple[_R, _X], tuple[Any, Any, Any, Any]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: tuple[_Position, _Position, _Position, _Position], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[_Fn3[_P, _Q, Any, tuple[_R, _X]] | _NoFunction], ValueAndGradient[_P, tuple[tuple[_R, _X], tuple[Any, Any, Any, Any]]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: Callable[_P, _R], *, argnums: Literal[-1, -2, -3, -4, 4, 5, 6, 7] | DiffState[int, Any] | tuple[Literal[2, 3], Literal[0]] | tuple[Literal[2, 3], Literal[1]] | tuple[Literal[3], Literal[2]] | list[int] | list[DiffState[Any, Any]] | list[int | DiffState[Any, Any]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> ValueAndGradient[_P, tuple[_R, Any]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: Literal[-1, -2, -3, -4, 4, 5, 6, 7] | DiffState[int, Any] | tuple[Literal[2, 3], Literal[0]] | tuple[Literal[2, 3], Literal[1]] | tuple[Literal[3], Literal[2]] | list[int] | list[DiffState[Any, Any]] | list[int | DiffState[Any, Any]], has_aux: Literal[False] = ..., holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[Callable[_P, _R]], ValueAndGradient[_P, tuple[_R, Any]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(f: Callable[_P, tuple[_R, _X]], *, argnums: Literal[-1, -2, -3, -4, 4, 5, 6, 7] | DiffState[int, Any] | tuple[Literal[2, 3], Literal[0]] | tuple[Literal[2, 3], Literal[1]] | tuple[Literal[3], Literal[2]] | list[int] | list[DiffState[Any, Any]] | list[int | DiffState[Any, Any]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> ValueAndGradient[_P, tuple[tuple[_R, _X], Any]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
@overload
def value_and_grad(*, argnums: Literal[-1, -2, -3, -4, 4, 5, 6, 7] | DiffState[int, Any] | tuple[Literal[2, 3], Literal[0]] | tuple[Literal[2, 3], Literal[1]] | tuple[Literal[3], Literal[2]] | list[int] | list[DiffState[Any, Any]] | list[int | DiffState[Any, Any]], has_aux: Literal[True], holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..., graph: bool | None = ..., graph_updates: bool | None = ...) -> Callable[[Callable[_P, tuple[_R, _X]]], ValueAndGradient[_P, tuple[tuple[_R, _X], Any]]]: """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays."""
