# Generated from the source of typed_nnx._transforms.shard_map by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from jax.sharding import AbstractMesh
from jax.sharding import Mesh
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.mapped import Mapped
from typed_nnx._transforms.outcomes import Outcome
from typed_nnx._transforms.prefix_types import SpecPrefix
from typing import Any
from typing import ParamSpec
from typing import TypeVar
from typing import overload

P = ParamSpec("P")
R = TypeVar("R")
_REPLICATED: Any

class ShardMapped(Mapped[P, R]):
    transform = "shard_map"
    _ins_name = "in_specs"
    _outs_name = "out_specs"
    _always_by_position = True
    _options: Mapping[str, Any]
    def _gather(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], **options: Any) -> Call: ...
    def _map(self, call: Call) -> Callable[..., Outcome]: ...

def _without_none(specs: Any) -> Any: ...

@overload
def shard_map(
    f: Callable[P, R],
    *,
    mesh: Mesh | AbstractMesh,
    in_specs: SpecPrefix,
    out_specs: SpecPrefix,
    axis_names: AbstractSet[Hashable] = frozenset(),
    check_vma: bool = True,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[P, R]: ...
@overload
def shard_map(
    *,
    mesh: Mesh | AbstractMesh,
    in_specs: SpecPrefix,
    out_specs: SpecPrefix,
    axis_names: AbstractSet[Hashable] = frozenset(),
    check_vma: bool = True,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
