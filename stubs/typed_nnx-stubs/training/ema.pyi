# Generated from the source of typed_nnx.training.ema by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from typed_nnx._core.filters import Filter
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typing import Any
from typing import Generic
from typing import overload
from typing_extensions import TypeVar

A = TypeVar("A")
M = TypeVar("M", default=Any)

class EMA(Pytree, Generic[M]):
    graph: bool | None
    decay: float
    filter: Filter
    params: State[Any, Any, M, Any]
    @overload
    def __init__(self: EMA[A], params: State[Any, Any, A, Any], decay: float, *, only: Filter = ..., graph: bool | None = None) -> None: ...
    @overload
    def __init__(self, params: M, decay: float, *, only: Filter = ..., graph: bool | None = None) -> None: ...
    def update(self, updates: M | State[Any, Any, M, Any]) -> None: ...
    def apply_to(self, model: A) -> A: ...
    def _matched(self, method: str, argument: str, node: Any) -> Any: ...

def _averages(part: Any) -> State[Any, Any, Any, Any]: ...
def _copied(variable: Variable[Any]) -> Variable[Any]: ...
