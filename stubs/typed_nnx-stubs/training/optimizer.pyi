# Generated from the source of typed_nnx.training.optimizer by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

import jax
import optax
from collections.abc import Callable
from collections.abc import Set
from typed_nnx._core.filters import Filter
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_types import OptArray as OptArray
from typed_nnx._core.variable_types import OptState as OptState
from typed_nnx._core.variable_types import OptVariable as OptVariable
from typed_nnx._graph.update import update
from typing import Any
from typing import Generic
from typing import TypeAlias
from typing import overload
from typing_extensions import TypeVar

A = TypeVar("A")

M = TypeVar("M", default=Any)
F = TypeVar("F", bound=Callable[..., Any])
Place: TypeAlias = tuple[str, tuple[int, ...] | None]
_OWN_SHARDING: str
def to_opt_state(tree: Any) -> Any: ...
def _opt_leaf(leaf: Any, places: Set[Place] | None) -> OptState[Any]: ...
def _place(variable: Variable[Any]) -> Place: ...
def _state_for(params: Any, tx: optax.GradientTransformation | optax.MultiSteps) -> Any: ...
def _wrt_is_given(init: F) -> F: ...
def _grads_are_given(method: F) -> F: ...

class Optimizer(Pytree, Generic[M]):
    step: OptState[jax.Array]
    tx: optax.GradientTransformation | optax.MultiSteps
    opt_state: Any
    wrt: Filter
    graph: bool | None
    @overload
    def __init__(self: Optimizer[A], model: State[Any, Any, A, Any], tx: optax.GradientTransformation | optax.MultiSteps, *, wrt: Filter, graph: bool | None = None) -> None: ...
    @overload
    def __init__(self, model: M, tx: optax.GradientTransformation | optax.MultiSteps, *, wrt: Filter, graph: bool | None = None) -> None: ...
    @overload
    def update(self, model: M, grads: State[Any, Any, M, Any] | dict[Any, Any] | M, /, **kwargs: Any) -> State[Any, Any, M, Any]: ...
    @overload
    def update(self, model: State[Any, Any, M, Any], grads: State[Any, Any, M, Any] | dict[Any, Any], /, **kwargs: Any) -> State[Any, Any, M, Any]: ...
    def _gradients(self, model: Any, params: Any, grads: Any) -> Any: ...
    def _check_trace(self, leaves: list[Any]) -> None: ...

class ModelAndOptimizer(Optimizer[M]):
    model: M
    def __init__(self, model: M, tx: optax.GradientTransformation | optax.MultiSteps, *, wrt: Filter = ...) -> None: ...
    def update(self, grads: State[Any, Any, M, Any] | dict[Any, Any] | M, /, **kwargs: Any) -> State[Any, Any, M, Any]: ...  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]

def _is_reshaped(leaf: Any, value: Any) -> bool: ...
def _without_refs(part: Any) -> Any: ...
