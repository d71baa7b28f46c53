# Generated from the source of typed_nnx._transforms.transform_metadata by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.mapped import Mapped
from typed_nnx._transforms.outcomes import Outcome
from typed_nnx._transforms.prefix_types import CarryPrefix
from typing import ParamSpec
from typing import TypeVar
from typing import overload

P = ParamSpec("P")
R = TypeVar("R")

class WithAxisMetadata(Mapped[P, R]):
    transform = "transform_metadata"
    _always_by_position = True
    def _map(self, call: Call) -> Callable[..., Outcome]: ...

@overload
def transform_metadata(
    f: Callable[P, R],
    *,
    in_axes: CarryPrefix = 0,
    out_axes: CarryPrefix = 0,
    partition: str | None,
    graph: bool | None = None,
) -> Callable[P, R]: ...
@overload
def transform_metadata(
    *,
    in_axes: CarryPrefix = 0,
    out_axes: CarryPrefix = 0,
    partition: str | None,
    graph: bool | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
