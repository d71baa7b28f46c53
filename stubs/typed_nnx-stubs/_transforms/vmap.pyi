# Generated from the source of typed_nnx._transforms.vmap by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Mapping
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.mapped import Mapped
from typed_nnx._transforms.outcomes import Outcome
from typed_nnx._transforms.prefix_types import AxisPrefix
from typing import Any
from typing import ParamSpec
from typing import TypeVar
from typing import overload

P = ParamSpec("P")
R = TypeVar("R")
NO_METADATA: Mapping[str, Any]

class Vmapped(Mapped[P, R]):
    transform = "vmap"
    _has_one_size = True
    _shows_inputs = False
    _options: Mapping[str, Any]
    def _axis_size(self) -> int | None: ...
    def _map(self, call: Call) -> Callable[..., Outcome]: ...

@overload
def vmap(
    f: Callable[P, R],
    *,
    in_axes: AxisPrefix = 0,
    out_axes: AxisPrefix = 0,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable | tuple[Hashable, ...] | None = None,
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[P, R]: ...
@overload
def vmap(
    *,
    in_axes: AxisPrefix = 0,
    out_axes: AxisPrefix = 0,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable | tuple[Hashable, ...] | None = None,
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
