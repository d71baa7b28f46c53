# Generated from the source of typed_nnx._transforms.pmap by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typed_nnx._core.bounded import Bounded
from typed_nnx._transforms.argnums import ArgNums
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.mapped import Mapped
from typed_nnx._transforms.outcomes import Outcome
from typed_nnx._transforms.prefix_types import AxisPrefix
from typed_nnx._transforms.signature import Signature
from typing import Any
from typing import NamedTuple
from typing import ParamSpec
from typing import TypeAlias
from typing import TypeVar
from typing import overload

P = ParamSpec("P")
R = TypeVar("R")
Device: TypeAlias = Any
_BEFORE: int

class PmapOptions(NamedTuple):
    statics: tuple[int, ...]
    donated: tuple[int, ...]
    rest: Mapping[str, Any]

class Pmapped(Mapped[P, R]):
    _compiled: Bounded[Any, Callable[..., Outcome]]
    transform = "pmap"
    _options: PmapOptions
    def _prepare(self) -> None: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    def _gather(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], **options: Any) -> Call: ...
    def _axis_size(self) -> int | None: ...
    def _map(self, call: Call) -> Callable[..., Outcome]: ...
    def _compile(self, call: Call) -> Callable[..., Outcome]: ...
    def _by_argument(self, signature: Signature) -> Callable[..., Outcome]: ...

@overload
def pmap(
    f: Callable[P, R],
    *,
    axis_name: Hashable | None = None,
    in_axes: AxisPrefix = 0,
    out_axes: AxisPrefix = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Iterable[int] = (),
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[P, R]: ...
@overload
def pmap(
    *,
    axis_name: Hashable | None = None,
    in_axes: AxisPrefix = 0,
    out_axes: AxisPrefix = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Iterable[int] = (),
    transform_metadata: Mapping[str, Any] = ...,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...

def _sequence(argnums: int | Iterable[int]) -> ArgNums: ...
