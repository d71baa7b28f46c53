"""`State`, `FlatState` and the functions over States."""

from __future__ import annotations

from typed_nnx_codegen.stubgen.declarations import ModuleStub
from typed_nnx_codegen.stubgen.families.selecting import (
    IMPORTS,
    MOST,
    PREAMBLE,
    Selecting,
    one_or_tuple,
)

_PART = "State[K, V, M_co, {filter}]"


def _method(name: str) -> str:
    method = Selecting(
        name,
        one_or_tuple,
        node="self",
        precise_node="self: HasFields[A]",
        part=_PART,
        indent="    ",
    )
    return method.overloads()


_STATE = f"""
class State(MutableMapping[K, V], StateDisplay, Generic[K, V, M_co, F_co]):
    __hash__: ClassVar[None]  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]
    def __init__(self, mapping: Mapping[K, Any] | Iterable[tuple[K, Any]], /, *, _copy: bool = True) -> None: ...
    @classmethod
    def _of(cls, nested: Nested) -> Self: ...
    @property
    def _mapping(self) -> Nested: ...
    @property
    def raw_mapping(self) -> Mapping[K, Any]: ...
    def __nnx_fields__(self, /) -> object: ...
    def __nnx_rest__(self, taken: object, /) -> Self: ...
    def __getitem__(self, key: K) -> V: ...
    def __setitem__(self, key: K, value: Any) -> None: ...
    def __delitem__(self, key: K) -> None: ...
    def __iter__(self) -> Iterator[K]: ...
    def __len__(self) -> int: ...
    def __contains__(self, key: object) -> bool: ...
    def __getattr__(self, key: str) -> Any: ...
    def __setattr__(self, key: str, value: Any) -> None: ...
    def __delattr__(self, key: str) -> None: ...
    def __dir__(self) -> list[str]: ...
    def _ipython_key_completions_(self) -> list[Any]: ...
    def __eq__(self, other: object) -> bool: ...
    def __getstate__(self) -> dict[str, Any]: ...
    def __setstate__(self, state: Mapping[str, Any]) -> None: ...
    def __copy__(self) -> Self: ...
    def flat_state(self) -> FlatState[V]: ...
    @classmethod
    def from_flat_path(cls, flat_state: Mapping[Path, L1] | Iterable[tuple[Path, L1]], /) -> State[Any, L1, Any, Any]: ...
{_method("split")}
{_method("filter")}
    @overload
    @classmethod
    def merge(cls, state: State[Any, Any, SupportsState[S1], Any], /, *states: State[Any, Any, SupportsState[S1], Any]) -> S1: ...
    @overload
    @classmethod
    def merge(cls, state: State[K1, L1, A, Any], /, *states: Mapping[Any, Any]) -> State[K1, L1, A, Any]: ...
    @overload
    @classmethod
    def merge(cls, state: dict[K1, Any], /, *states: Mapping[Any, Any]) -> State[K1, Any, Any, Any]: ...
    @overload
    def __or__(self: State[Any, Any, SupportsState[S1], Any], other: State[Any, Any, SupportsState[S1], Any]) -> S1: ...
    @overload
    def __or__(self, other: Mapping[K, Any]) -> State[K, V, M_co, Any]: ...
    def __sub__(self, other: Mapping[K, Any]) -> State[K, V, M_co, F_co]: ...
    def map(self, f: Callable[[Path, V], L1]) -> State[K, L1, M_co, F_co]: ...
    def to_pure_dict(self, extract_fn: Callable[[Any], Any] | None = None) -> dict[K, Any]: ...
    def replace_by_pure_dict(self, pure_dict: Mapping[Any, Any], replace_fn: Callable[[Any, Any], Any] | None = None) -> None: ...
"""


def _flat_methods(name: str) -> str:
    """Return the overloads of a method of `FlatState`: the leaves have one type, filter or not."""
    lines = []
    for count in range(1, MOST + 1):
        result = one_or_tuple(["FlatState[V]"] * count)
        names = [f"f{i}: Filter" for i in range(1, count + 1)]
        lines.append(f"    @overload\n    def {name}(self, {', '.join(names)}, /) -> {result}: ...")
    inner = ", ".join(f"f{i}: Filter" for i in range(1, MOST + 1))
    lines.append(
        f"    @overload\n    def {name}(self, {inner}, f{MOST + 1}: Filter, /, *filters: Filter) -> Any: ..."
    )
    return "\n".join(lines)


_FLAT_STATE = f"""
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
{_flat_methods("split")}
{_flat_methods("filter")}
    @staticmethod
    def merge(flat_state: Iterable[tuple[Path, L1]], /, *flat_states: Iterable[tuple[Path, L1]]) -> FlatState[L1]: ...
    def to_nested_state(self) -> State[Any, V, Any, Any]: ...
    def __len__(self) -> int: ...
    def __nnx_repr__(self) -> Rows: ...
    def __iter__(self) -> Iterator[tuple[Path, V]]: ...
"""


def _function(name: str) -> str:
    function = Selecting(
        name,
        one_or_tuple,
        node="state: State[K, L1, A, Any]",
        precise_node="state: HasFields[A]",
        part="State[K, L1, A, {filter}]",
    )
    return function.overloads()


_MERGE_STATE = """
@overload
def merge_state(state: State[Any, Any, SupportsState[S1], Any], /, *states: State[Any, Any, SupportsState[S1], Any]) -> S1: ...
@overload
def merge_state(state: State[K, L1, A, Any], /, *states: Mapping[Any, Any]) -> State[K, L1, A, Any]: ...
@overload
def merge_state(state: dict[K, Any], /, *states: Mapping[Any, Any]) -> State[K, Any, Any, Any]: ...
@overload
def merge_state(state: Mapping[Any, Any], /, *states: Mapping[Any, Any], cls: Callable[..., S1]) -> S1: ...
"""

_FROM_FLAT_STATE = """
@overload
def from_flat_state(flat_state: Mapping[Path, L1] | Iterable[tuple[Path, L1]]) -> State[Any, L1, Any, Any]: ...
@overload
def from_flat_state(flat_state: Mapping[Path, Any] | Iterable[tuple[Path, Any]], *, cls: Callable[..., S1]) -> S1: ...
"""

_MAP_STATE = """
@overload
def map_state(f: Callable[[Path, L1], S1], state: State[K, L1, A, R1]) -> State[K, S1, A, R1]: ...
@overload
def map_state(f: Callable[[Path, Any], S1], state: dict[K, Any]) -> State[K, S1, Any, Any]: ...
"""

_DIFF = """
@overload
def diff(state: State[K, L1, A, S1], other: Mapping[Any, Any]) -> State[K, L1, A, S1]: ...
@overload
def diff(state: dict[K, Any], other: Mapping[Any, Any]) -> State[K, Any, Any, Any]: ...
"""

_TO_FLAT_STATE = """
@overload
def to_flat_state(state: State[Any, L1, Any, Any]) -> FlatState[L1]: ...
@overload
def to_flat_state(state: dict[Any, Any]) -> FlatState[Any]: ...
"""

_TYPES = 'K1 = TypeVar("K1")\nL1 = TypeVar("L1")\n'

STUBS = (
    ModuleStub(
        module="typed_nnx._core.state",
        definitions={"State": _STATE, "FlatState": _FLAT_STATE},
        preamble=f"{PREAMBLE}\n{_TYPES}",
        imports=(
            *(line for line in IMPORTS if "_core.state import" not in line),
            "from typing import ClassVar",
            "from typed_nnx._core.state_protocols import HasFields, SupportsState",
        ),
    ),
    ModuleStub(
        module="typed_nnx._graph.state_functions",
        definitions={
            "split_state": _function("split_state"),
            "filter_state": _function("filter_state"),
            "merge_state": _MERGE_STATE,
            "from_flat_state": _FROM_FLAT_STATE,
            "to_flat_state": _TO_FLAT_STATE,
            "map_state": _MAP_STATE,
            "diff": _DIFF,
        },
        preamble=f'{PREAMBLE}\n{_TYPES}K = TypeVar("K")\n',
        imports=(*IMPORTS, "from typed_nnx._core.state_protocols import HasFields, SupportsState"),
    ),
)
