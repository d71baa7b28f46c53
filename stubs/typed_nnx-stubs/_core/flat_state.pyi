# Generated from the source of typed_nnx._core.flat_state by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typed_nnx._core.display import Representable
from typed_nnx._core.display import Rows
from typed_nnx._core.filters import Filter
from typed_nnx._core.filters import Predicate
from typed_nnx._core.nested import Nested
from typed_nnx._core.paths import Path
from typed_nnx._core.variable import Variable
from types import EllipsisType
from typing import Any
from typing import Generic
from typing import TypeAlias
from typing import TypeVar
from typing import overload

# What is in a list is left open: checkers infer its type before they compare it with this one.
# `...` may come first here, which is wrong: a variable of the type `Filter` may hold it.
_AnyFilter: TypeAlias = type | str | Predicate | bool | EllipsisType | tuple[Any, ...] | list[Any] | None

A = TypeVar("A")
L = TypeVar("L", bound=_AnyFilter)
S1 = TypeVar("S1")
S2 = TypeVar("S2")
S3 = TypeVar("S3")
S4 = TypeVar("S4")
S5 = TypeVar("S5")
S6 = TypeVar("S6")
R1 = TypeVar("R1")
R2 = TypeVar("R2")
R3 = TypeVar("R3")
R4 = TypeVar("R4")
R5 = TypeVar("R5")
R6 = TypeVar("R6")
F1 = TypeVar("F1", bound=_AnyFilter)
F2 = TypeVar("F2", bound=_AnyFilter)
F3 = TypeVar("F3", bound=_AnyFilter)
F4 = TypeVar("F4", bound=_AnyFilter)
F5 = TypeVar("F5", bound=_AnyFilter)
F6 = TypeVar("F6", bound=_AnyFilter)
V1 = TypeVar("V1", bound=Variable[Any])
V2 = TypeVar("V2", bound=Variable[Any])
V3 = TypeVar("V3", bound=Variable[Any])
V4 = TypeVar("V4", bound=Variable[Any])
V5 = TypeVar("V5", bound=Variable[Any])
V6 = TypeVar("V6", bound=Variable[Any])
K1 = TypeVar("K1")
L1 = TypeVar("L1")

V = TypeVar("V")

class FlatState(Sequence[tuple[Path, V]], Representable, Generic[V]):
    def __init__(self, items: Iterable[tuple[Path, V]], /, *, sort: bool) -> None: ...
    @classmethod
    def from_sorted_keys_values(cls, keys: tuple[Path, ...], values: list[V], /) -> FlatState[V]: ...
    @property
    def paths(self) -> tuple[Path, ...]: ...
    @property
    def leaves(self) -> list[V]: ...
    @overload
    def __getitem__(self, index: int) -> tuple[Path, V]: ...
    @overload
    def __getitem__(self, index: slice) -> FlatState[V]: ...
    @overload
    def split(self, f1: Filter, /) -> FlatState[V]: ...
    @overload
    def split(self, f1: Filter, f2: Filter, /) -> tuple[FlatState[V], FlatState[V]]: ...
    @overload
    def split(self, f1: Filter, f2: Filter, f3: Filter, /) -> tuple[FlatState[V], FlatState[V], FlatState[V]]: ...
    @overload
    def split(self, f1: Filter, f2: Filter, f3: Filter, f4: Filter, /) -> tuple[FlatState[V], FlatState[V], FlatState[V], FlatState[V]]: ...
    @overload
    def split(self, f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, /) -> tuple[FlatState[V], FlatState[V], FlatState[V], FlatState[V], FlatState[V]]: ...
    @overload
    def split(self, f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, /) -> tuple[FlatState[V], FlatState[V], FlatState[V], FlatState[V], FlatState[V], FlatState[V]]: ...
    @overload
    def split(self, f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, f7: Filter, /, *filters: Filter) -> Any: ...
    @overload
    def filter(self, f1: Filter, /) -> FlatState[V]: ...
    @overload
    def filter(self, f1: Filter, f2: Filter, /) -> tuple[FlatState[V], FlatState[V]]: ...
    @overload
    def filter(self, f1: Filter, f2: Filter, f3: Filter, /) -> tuple[FlatState[V], FlatState[V], FlatState[V]]: ...
    @overload
    def filter(self, f1: Filter, f2: Filter, f3: Filter, f4: Filter, /) -> tuple[FlatState[V], FlatState[V], FlatState[V], FlatState[V]]: ...
    @overload
    def filter(self, f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, /) -> tuple[FlatState[V], FlatState[V], FlatState[V], FlatState[V], FlatState[V]]: ...
    @overload
    def filter(self, f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, /) -> tuple[FlatState[V], FlatState[V], FlatState[V], FlatState[V], FlatState[V], FlatState[V]]: ...
    @overload
    def filter(self, f1: Filter, f2: Filter, f3: Filter, f4: Filter, f5: Filter, f6: Filter, f7: Filter, /, *filters: Filter) -> Any: ...
    @staticmethod
    def merge(flat_state: Iterable[tuple[Path, L1]], /, *flat_states: Iterable[tuple[Path, L1]]) -> FlatState[L1]: ...
    def to_nested_state(self) -> Nested: ...
    def __len__(self) -> int: ...
    def __nnx_repr__(self) -> Rows: ...
    def __iter__(self) -> Iterator[tuple[Path, V]]: ...

def _one_or_all(states: list[FlatState[V]]) -> FlatState[V] | tuple[FlatState[V], ...]: ...
def _flatten(flat: FlatState[Any]) -> tuple[list[Any], tuple[Path, ...]]: ...
def _flatten_with_keys(flat: FlatState[Any]) -> tuple[list[tuple[Any, Any]], tuple[Path, ...]]: ...
def _unflatten(paths: tuple[Path, ...], leaves: Iterable[Any]) -> FlatState[Any]: ...
