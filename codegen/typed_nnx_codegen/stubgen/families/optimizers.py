"""`Optimizer`, `ModelAndOptimizer` and `EMA`: they take gradients and values of their own model only.

A State of another model and a Module that is given for gradients are no ``State[..., M, ...]``.
"""

from __future__ import annotations

from typed_nnx_codegen.stubgen.declarations import ModuleStub

# A plain dict has no model; other mappings, such as a State of another model, do not fit.
_GRADS = "State[Any, Any, M, Any] | dict[Any, Any]"
_UPDATES = "State[Any, Any, M, Any]"
_GRAPH = "graph: bool | None = None"

_OPTIMIZER = f"""
class Optimizer(Pytree, Generic[M]):
    step: OptState[jax.Array]
    tx: optax.GradientTransformation | optax.MultiSteps
    opt_state: Any
    wrt: Filter
    graph: bool | None
    @overload
    def __init__(self: Optimizer[A], model: State[Any, Any, A, Any], tx: optax.GradientTransformation | optax.MultiSteps, *, wrt: Filter, {_GRAPH}) -> None: ...
    @overload
    def __init__(self, model: M, tx: optax.GradientTransformation | optax.MultiSteps, *, wrt: Filter, {_GRAPH}) -> None: ...
    @overload
    def update(self, model: M, grads: {_GRADS} | M, /, **kwargs: Any) -> {_UPDATES}: ...
    @overload
    def update(self, model: {_UPDATES}, grads: {_GRADS}, /, **kwargs: Any) -> {_UPDATES}: ...
    def _gradients(self, model: Any, params: Any, grads: Any) -> Any: ...
    def _check_trace(self, leaves: list[Any]) -> None: ...
"""

_MODEL_AND_OPTIMIZER = f"""
class ModelAndOptimizer(Optimizer[M]):
    model: M
    def __init__(self, model: M, tx: optax.GradientTransformation | optax.MultiSteps, *, wrt: Filter = ...) -> None: ...
    def update(self, grads: {_GRADS} | M, /, **kwargs: Any) -> {_UPDATES}: ...  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
"""

_EMA = f"""
class EMA(Pytree, Generic[M]):
    graph: bool | None
    decay: float
    filter: Filter
    params: State[Any, Any, M, Any]
    @overload
    def __init__(self: EMA[A], params: State[Any, Any, A, Any], decay: float, *, only: Filter = ..., {_GRAPH}) -> None: ...
    @overload
    def __init__(self, params: M, decay: float, *, only: Filter = ..., {_GRAPH}) -> None: ...
    def update(self, updates: M | State[Any, Any, M, Any]) -> None: ...
    def apply_to(self, model: A) -> A: ...
    def _matched(self, method: str, argument: str, node: Any) -> Any: ...
"""

STUBS = (
    ModuleStub(
        module="typed_nnx.training.optimizer",
        definitions={"Optimizer": _OPTIMIZER, "ModelAndOptimizer": _MODEL_AND_OPTIMIZER},
        preamble='A = TypeVar("A")',
        imports=("from typing import overload",),
    ),
    ModuleStub(
        module="typed_nnx.training.ema",
        definitions={"EMA": _EMA},
        imports=("from typing import overload",),
    ),
)
