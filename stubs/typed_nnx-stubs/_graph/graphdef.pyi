# Generated from the source of typed_nnx._graph.graphdef by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

import builtins
import dataclasses
from collections.abc import Callable
from collections.abc import Iterator
from typed_nnx._core.metadata import Metadata
from typed_nnx._core.nodes import Spec
from typed_nnx._core.nodes import Token
from typed_nnx._core.paths import Path
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typing import Any
from typing import ClassVar
from typing import Generic
from typing import Never
from typing import ParamSpec
from typing import Protocol
from typing import Self
from typing import TypeAlias
from typing import overload
from typing_extensions import TypeVar

M = TypeVar("M", default=Any)

class VariableDef:
    cls: type[Variable[Any]]
    meta: Metadata
    token: Token
    def __init__(self, cls: type[Variable[Any]], meta: Metadata) -> None: ...
    @property
    def mutable(self) -> tuple[tuple[Any, Any], ...]: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

LEAF_ITEM: str
REF_ITEM: str
Item: TypeAlias = Spec | VariableDef | str | int
_WITH_TOKEN: object

@dataclasses.dataclass(frozen=True, slots=True)
class NodeDef(Generic[M]):
    type: builtins.type[M]
    index: int
    outer_index: int | None
    num_attributes: int

@dataclasses.dataclass(frozen=True, slots=True)
class NodeRef:
    index: int

@dataclasses.dataclass(frozen=True, slots=True)
class TreeNodeDef(Generic[M]):
    type: builtins.type[M]
    path_index: tuple[tuple[Path, int], ...]

NodeDefType: TypeAlias = NodeDef[Any] | NodeRef | TreeNodeDef[Any] | VariableDef

class Layout:
    tree: Any
    items: tuple[Item, ...]
    _paths: tuple[Path, ...] | None
    _names: tuple[str, ...] | None
    def __init__(self, tree: Any, items: tuple[Item, ...]) -> None: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def paths(self) -> tuple[Path, ...]: ...

def _paths(tree: Any, path: Path) -> Iterator[Path]: ...

M_co = TypeVar("M_co", covariant=True)
P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)

class _Calls(Protocol[P, R_co, S_co]):
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
    def __nnx_state__(self, /) -> S_co: ...

class _Merged(Generic[M_co]): ...

# What is inside the object may be anything.
class _AppliedPart(Generic[M_co]):
    def __getattr__(self, name: str, /) -> _AppliedPart[M_co]: ...
    def __getitem__(self, key: Any, /) -> _AppliedPart[M_co]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, tuple[GraphDef[M_co], State[Any, Any, M_co, Any]]]: ...

class Applied(_Merged[M_co]):
    def __getattr__(self, name: str, /) -> _AppliedPart[M_co]: ...
    def __getitem__(self, key: Any, /) -> _AppliedPart[M_co]: ...
    @overload
    def __call__(self: _Merged[Never], *args: Any, **kwargs: Any) -> tuple[Any, tuple[GraphDef[Any], State[Any, Any, Any, Any]]]: ...
    @overload
    def __call__(self: _Merged[_Calls[P, R, S]], *args: P.args, **kwargs: P.kwargs) -> tuple[R, tuple[GraphDef[M_co], S]]: ...

class GraphDef(Generic[M]):
    items: tuple[Item, ...]
    base: int
    outer: tuple[int | None, ...] | None
    is_tree: bool
    token: Token
    _layout: Layout | None
    _is_hashable: Any
    def __init__(
        self,
        items: tuple[Item, ...],
        *,
        base: int = 0,
        outer: tuple[int | None, ...] | None = None,
        layout: Layout | None = None,
    ) -> None: ...
    _apply: ClassVar[Callable[[GraphDef[Any], tuple[Any, ...]], Any]]
    def apply(self, state: Any, *states: Any, graph: bool | None = None) -> Applied[M]: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def descriptions(self) -> list[Spec | VariableDef]: ...
    @property
    def nodes(self) -> list[NodeDefType]: ...
    @property
    def attributes(self) -> list[tuple[Any, Any]]: ...
    @property
    def is_objects_only(self) -> bool: ...
    @property
    def num_leaves(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __deepcopy__(self, memo: dict[int, Any]) -> GraphDef[M]: ...
    def without_outer(self) -> GraphDef[M]: ...
    def of_mode(self, is_tree: bool) -> Self: ...
    def where(self, number: int) -> str: ...

def _rebuild(
    items: tuple[Item, ...], base: int, outer: tuple[int | None, ...] | None, is_tree: bool = False
) -> Any: ...
def _layout(items: tuple[Item, ...]) -> Layout: ...
def _unflatten(graphdef: GraphDef[Any], children: Any) -> GraphDef[Any]: ...
PureState: TypeAlias = tuple[GraphDef[M], State[Any, Any, M, Any]]
