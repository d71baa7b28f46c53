# Generated from the source of typed_nnx._transforms.scan by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from collections.abc import Mapping
from typed_nnx._transforms.axis_metadata import AxisMetadata
from typed_nnx._transforms.interned import Kept
from typed_nnx._transforms.lifted import Lifted
from typed_nnx._transforms.prefix_types import CarryPrefix
from typed_nnx._transforms.scan_axes import ScanAxes
from typed_nnx._transforms.scan_steps import Steps
from typing import Any
from typing import ParamSpec
from typing import TypeVar
from typing import overload

P = ParamSpec("P")
R = TypeVar("R")

class Scanned(Lifted[P, R]):
    _steps: Kept[Steps]
    _axes: ScanAxes
    _metadata: AxisMetadata | None
    _options: Mapping[str, Any]
    transform = "scan"
    def __init__(
        self,
        function: Callable[P, R],
        axes: ScanAxes,
        metadata: AxisMetadata | None,
        graph: bool | None,
        graph_updates: bool | None,
        options: Mapping[str, Any],
    ) -> None: ...
    def _prepare(self) -> None: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    def _by_position(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]: ...

@overload
def scan(
    f: Callable[P, R],
    *,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
    in_axes: CarryPrefix = ...,
    out_axes: CarryPrefix = ...,
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[P, R]: ...
@overload
def scan(
    *,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
    in_axes: CarryPrefix = ...,
    out_axes: CarryPrefix = ...,
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
