"""`State`: a nested mapping from paths to Variables and arrays."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, overload

import jax
from typing_extensions import TypeVar

from typed_nnx._core.display import PairsDisplay, StateDisplay
from typed_nnx._core.filters import Filter, SupportsLeaves, SupportsState
from typed_nnx._core.nested import (
    Nested,
    difference,
    divided,
    flat_items,
    grouped,
    mapped,
    merged,
    nested_of,
    normalized,
    register_mapping,
    same_leaf,
    sorted_items,
)
from typed_nnx._core.paths import Path, path_order, sorted_keys
from typed_nnx._core.serialization import register_serialization
from typed_nnx._core.settings import typed_as
from typed_nnx._core.variable import Variable
from typed_nnx.errors import ArgumentError, StateKeyError

if TYPE_CHECKING:
    from typed_nnx._core import flat_state_overloads, state_overloads

_INTEGER = re.compile(r"-?[0-9]+")


def _values(
    pure_dict: Mapping[Any, Any], leaves: Mapping[Path, Any], path: Path
) -> list[tuple[Path, Any]]:
    # A dict at the path of a leaf is the leaf's value, not another level.
    found: list[tuple[Path, Any]] = []
    for key, value in pure_dict.items():
        here = (*path, key)
        if here in leaves:
            found.append((here, value))
        elif isinstance(value, Mapping):
            found.extend(_values(value, leaves, here))
        else:
            raise ArgumentError(
                "replace_by_pure_dict",
                f"key in pure_dict not available in state: {here!r}.",
                "remove it from the pure dict; integer keys that became texts in a checkpoint come "
                "back with nnx.restore_int_paths(pure_dict)",
            )
    return found


def restore_int_paths(pure_dict: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a pure dict whose keys of digits, ``"0"``, are integers, as before orbax saved it."""
    return {
        int(key) if isinstance(key, str) and _INTEGER.fullmatch(key) else key: (
            restore_int_paths(value) if isinstance(value, Mapping) else value
        )
        for key, value in pure_dict.items()
    }


K = TypeVar("K", default=Any)
V = TypeVar("V", default=Any)
M_co = TypeVar("M_co", default=Any, covariant=True)
F_co = TypeVar("F_co", default=Any, covariant=True)
A = TypeVar("A")
F = TypeVar("F")
Key = TypeVar("Key")
L = TypeVar("L")
S = TypeVar("S")

_set = object.__setattr__


class State(MutableMapping[K, V], StateDisplay, Generic[K, V, M_co, F_co]):
    """A nested mapping whose leaves are Variables (the same objects as in the model) and arrays.

    Fields are read and written as items or attributes; a nested mapping comes back as a State that
    shares the entries. It is a pytree for jax, with the path of each leaf.

    The type parameters are the keys ``K``, the leaves ``V`` and, for type checkers only, the type
    ``M`` of the model and the filter ``F`` it came from.

    Args:
        mapping: Entries; mappings inside become levels of the State.
    """

    __slots__ = ("__weakref__", "_mapping")

    _mapping: Nested

    def __init__(
        self, mapping: Mapping[K, Any] | Iterable[tuple[K, Any]], /, *, _copy: bool = True
    ) -> None:
        if not _copy and type(mapping) is dict:
            _set(self, "_mapping", mapping)
        else:
            _set(self, "_mapping", normalized(dict(mapping)))

    @classmethod
    def _of(cls, nested: Nested) -> Self:
        """Wrap a nested dict without a copy."""
        made = object.__new__(cls)
        _set(made, "_mapping", nested)
        return made

    # -- mapping ----------------------------------------------------------------------------------

    @property
    def raw_mapping(self) -> Mapping[K, Any]:
        """The entries; nested levels are dicts."""
        return self._mapping

    def __getitem__(self, key: K) -> V:
        try:
            found: V = self._mapping[key]
        except KeyError:
            raise StateKeyError(key, list(self._mapping)) from None
        if isinstance(found, dict):
            level: Any = State._of(found)  # V does not say the types of levels
            found = level
        return found

    def __setitem__(self, key: K, value: Any) -> None:
        self._mapping[key] = normalized(value) if isinstance(value, Mapping) else value

    def __delitem__(self, key: K) -> None:
        if key not in self._mapping:
            raise StateKeyError(key, list(self._mapping))
        del self._mapping[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._mapping)

    def __len__(self) -> int:
        return len(self._mapping)

    def __contains__(self, key: object) -> bool:
        return key in self._mapping

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__") or key == "_mapping":
            raise AttributeError(f"State has no attribute {key!r}")
        name: Any = key  # a State with other keys has no such attribute
        return self[name]

    def __setattr__(self, key: str, value: Any) -> None:
        name: Any = key
        self[name] = value

    def __delattr__(self, key: str) -> None:
        name: Any = key
        del self[name]

    def __dir__(self) -> list[str]:
        fields = [key for key in self._mapping if isinstance(key, str)]
        return sorted({*fields, *object.__dir__(self)})

    def _ipython_key_completions_(self) -> list[Any]:
        return sorted_keys(self._mapping)

    def __eq__(self, other: object) -> bool:
        """Whether both have equal leaves at the same paths."""
        if self is other:
            return True
        if not isinstance(other, Mapping):
            return NotImplemented
        mine, theirs = dict(flat_items(self._mapping)), dict(flat_items(other))
        return mine.keys() == theirs.keys() and all(same_leaf(mine[p], theirs[p]) for p in mine)

    __hash__ = None  # type: ignore[assignment]  # it is mutable

    def __getstate__(self) -> dict[str, Any]:
        return {"mapping": self._mapping}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        _set(self, "_mapping", state["mapping"])

    def __copy__(self) -> Self:
        return self._of(normalized(self._mapping))

    if TYPE_CHECKING:

        def __nnx_fields__(self, /) -> object: ...

        def __nnx_leaves__(self, /) -> V: ...

        def __nnx_rest__(self, taken: object, /) -> Self: ...

    # -- groups of leaves -------------------------------------------------------------------------

    def flat_state(self) -> FlatState[V]:
        """Return the leaves with their paths, sorted by path."""
        return FlatState(sorted_items(self._mapping), sort=False)

    @classmethod
    def from_flat_path(
        cls, flat_state: Mapping[Path, Any] | Iterable[tuple[Path, Any]], /
    ) -> State[Any, Any, Any, Any]:
        """Build a State from (path, leaf) pairs."""
        items = flat_state.items() if isinstance(flat_state, Mapping) else flat_state
        made: Any = cls._of(nested_of(items))
        found: State[Any, Any, Any, Any] = made  # of a subclass, whose own types do not matter
        return found

    @typed_as(lambda: state_overloads.split)
    def split(
        self: State[K, V, M_co, F_co], first: Filter, /, *filters: Filter
    ) -> State[K, V, M_co, Any] | tuple[State[K, V, M_co, Any], ...]:
        """Return one State per filter; each leaf goes to the first filter that matches it.

        Raises:
            NoFilterMatchedError: A leaf matches no filter.
        """
        groups = divided("State.split", sorted_items(self._mapping), (first, *filters))
        return _one_or_all([State._of(nested_of(group)) for group in groups])

    @typed_as(lambda: state_overloads.filter)
    def filter(
        self: State[K, V, M_co, F_co], first: Filter, /, *filters: Filter
    ) -> State[K, V, M_co, Any] | tuple[State[K, V, M_co, Any], ...]:
        """Return one State per filter; leaves that no filter matches are dropped."""
        groups, _ = grouped(sorted_items(self._mapping), (first, *filters))
        return _one_or_all([State._of(nested_of(group)) for group in groups])

    @overload
    @classmethod
    def merge(
        cls,
        state: State[Any, Any, SupportsState[S], Any],
        /,
        *states: State[Any, Any, SupportsState[S], Any],
    ) -> S: ...
    @overload
    @classmethod
    def merge(
        cls, state: State[Key, L, A, Any], /, *states: Mapping[Any, Any]
    ) -> State[Key, L, A, Any]: ...
    @overload
    @classmethod
    def merge(
        cls, state: dict[Key, Any], /, *states: Mapping[Any, Any]
    ) -> State[Key, Any, Any, Any]: ...
    @classmethod
    def merge(cls, state: Mapping[Any, Any], /, *states: Mapping[Any, Any]) -> Any:
        """Return the union of States; of two leaves at one path the later wins."""
        return State._of(merged((state, *states)))

    @overload
    def __or__(
        self: State[Any, Any, SupportsState[S], Any], other: State[Any, Any, SupportsState[S], Any]
    ) -> S: ...
    @overload
    def __or__(self, other: Mapping[K, Any]) -> State[K, V, M_co, Any]: ...
    def __or__(self, other: Mapping[Any, Any]) -> Any:
        return State._of(merged((self, other)))

    def __sub__(self, other: Mapping[K, Any]) -> State[K, V, M_co, F_co]:
        return State._of(difference(self, other))

    def map(self, f: Callable[[Path, V], L]) -> State[K, L, M_co, F_co]:
        """Return the State with ``f(path, leaf)`` in place of each leaf."""
        return State._of(mapped(f, self._mapping))

    def to_pure_dict(self, extract_fn: Callable[[Any], Any] | None = None) -> dict[K, Any]:
        """Return a nested dict of values (or ``extract_fn(leaf)``), for checkpoints."""
        return to_pure_dict(self, extract_fn)

    def replace_by_pure_dict(
        self, pure_dict: Mapping[Any, Any], replace_fn: Callable[[Any, Any], Any] | None = None
    ) -> None:
        """Put the values of a pure dict into this State, in new Variables.

        Raises:
            ValueError: The pure dict has a path that this State does not have.
        """
        replace_by_pure_dict(self, pure_dict, replace_fn)


register_mapping(State, operator.attrgetter("_mapping"), State._of)


def _one_or_all(states: list[S]) -> S | tuple[S, ...]:
    return states[0] if len(states) == 1 else tuple(states)


class FlatState(Sequence[tuple[Path, V]], PairsDisplay, Generic[V]):
    """An immutable sequence of (path, leaf), sorted by path; a pytree whose children are the leaves.

    Args:
        items: The pairs.
        sort: Sort them by path; pass False only for pairs that are sorted.
    """

    __slots__ = ("_leaves", "_paths")

    def __init__(self, items: Iterable[tuple[Path, V]], /, *, sort: bool) -> None:
        pairs = list(items)
        if sort:
            pairs.sort(key=lambda pair: path_order(pair[0]))
        self._paths: tuple[Path, ...] = tuple([path for path, _ in pairs])
        self._leaves: list[V] = [leaf for _, leaf in pairs]

    @classmethod
    def from_sorted_keys_values(cls, keys: tuple[Path, ...], values: list[V], /) -> FlatState[V]:
        """Build a FlatState from sorted paths and their leaves."""
        made: FlatState[V] = cls((), sort=False)
        made._paths = keys
        made._leaves = values
        return made

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths."""
        return self._paths

    @property
    def leaves(self) -> list[V]:
        """The leaves."""
        return self._leaves

    @overload
    def __getitem__(self, index: int) -> tuple[Path, V]: ...
    @overload
    def __getitem__(self, index: slice) -> FlatState[V]: ...
    def __getitem__(self, index: int | slice) -> tuple[Path, V] | FlatState[V]:
        if isinstance(index, slice):
            return FlatState.from_sorted_keys_values(self._paths[index], self._leaves[index])
        return self._paths[index], self._leaves[index]

    @typed_as(lambda: flat_state_overloads.split)
    def split(
        self: FlatState[V], first: Filter, /, *filters: Filter
    ) -> FlatState[V] | tuple[FlatState[V], ...]:
        """Return one FlatState per filter; each leaf goes to the first filter that matches it.

        Raises:
            NoFilterMatchedError: A leaf matches no filter.
        """
        groups = divided("FlatState.split", self, (first, *filters))
        return _one_or_all([FlatState(group, sort=False) for group in groups])

    @typed_as(lambda: flat_state_overloads.filter)
    def filter(
        self: FlatState[V], first: Filter, /, *filters: Filter
    ) -> FlatState[V] | tuple[FlatState[V], ...]:
        """Return one FlatState per filter and leave out the leaves that none matches."""
        groups, _ = grouped(self, (first, *filters))
        return _one_or_all([FlatState(group, sort=False) for group in groups])

    @staticmethod
    def merge(
        flat_state: Iterable[tuple[Path, L]], /, *flat_states: Iterable[tuple[Path, L]]
    ) -> FlatState[L]:
        """Return one FlatState with the leaves of all; later ones win."""
        found = {path: leaf for flat in (flat_state, *flat_states) for path, leaf in flat}
        return FlatState(found.items(), sort=True)

    def to_nested_state(self) -> State[Any, Any]:
        """Return the leaves as a State."""
        return State(nested_of(self))

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[tuple[Path, V]]:
        return iter(zip(self._paths, self._leaves, strict=True))


def _flatten_flat(flat: FlatState[Any]) -> tuple[list[Any], tuple[Path, ...]]:
    return flat.leaves, flat.paths


def _flatten_flat_with_keys(flat: FlatState[Any]) -> tuple[list[tuple[Any, Any]], tuple[Path, ...]]:
    keys = [(jax.tree_util.DictKey(path), leaf) for path, leaf in flat]
    return keys, flat.paths


def _unflatten_flat(paths: tuple[Path, ...], leaves: Iterable[Any]) -> FlatState[Any]:
    return FlatState.from_sorted_keys_values(paths, list(leaves))


jax.tree_util.register_pytree_with_keys(
    FlatState, _flatten_flat_with_keys, _unflatten_flat, _flatten_flat
)
register_serialization(FlatState, tuple, tuple)


@overload
def to_flat_state(state: SupportsLeaves[L]) -> FlatState[L]: ...
@overload
def to_flat_state(state: dict[Any, Any]) -> FlatState[Any]: ...
def to_flat_state(state: SupportsLeaves[Any] | dict[Any, Any]) -> FlatState[Any]:
    """Return the leaves of a State with their paths, sorted by path."""
    entries: Any = state  # only a State is a SupportsLeaves
    return FlatState(sorted_items(entries), sort=False)


@overload
def from_flat_state(
    flat_state: Mapping[Path, Any] | Iterable[tuple[Path, Any]],
) -> State[Any, Any, Any, Any]: ...  # the leaves do not say the types of levels
@overload
def from_flat_state(
    flat_state: Mapping[Path, Any] | Iterable[tuple[Path, Any]], *, cls: Callable[..., S]
) -> S: ...
def from_flat_state(
    flat_state: Mapping[Path, Any] | Iterable[tuple[Path, Any]], *, cls: Callable[..., Any] = State
) -> Any:
    """Build a State from (path, leaf) pairs.

    Args:
        flat_state: The pairs, or a mapping from paths to leaves.
        cls: What to make of the nested dict.
    """
    items = flat_state.items() if isinstance(flat_state, Mapping) else flat_state
    return cls(nested_of(items))


def to_pure_dict(
    state: Mapping[Any, Any], extract_fn: Callable[[Any], Any] | None = None
) -> dict[Any, Any]:
    """Return a nested dict of values (or ``extract_fn(leaf)``), for checkpoints."""

    def value_of(leaf: Any) -> Any:
        return leaf.get_value() if isinstance(leaf, Variable) else leaf

    extract = value_of if extract_fn is None else extract_fn
    return mapped(lambda _, leaf: extract(leaf), state)


def replace_by_pure_dict(
    state: State, pure_dict: Mapping[Any, Any], replace_fn: Callable[[Any, Any], Any] | None = None
) -> None:
    """Put the values of a pure dict into a State, in new Variables.

    Raises:
        ValueError: The pure dict has a path that the State does not have.
    """

    def replaced(leaf: Any, value: Any) -> Any:
        return leaf.replace(value) if isinstance(leaf, Variable) else value

    replace = replaced if replace_fn is None else replace_fn
    leaves: dict[Path, Any] = dict(flat_items(state))
    for path, value in _values(pure_dict, leaves, ()):
        leaves[path] = replace(leaves[path], value)
    state.clear()
    state.update(nested_of(leaves.items()))


@overload
def merge_state(
    state: State[Any, Any, SupportsState[S], Any],
    /,
    *states: State[Any, Any, SupportsState[S], Any],
) -> S: ...
@overload
def merge_state(
    state: State[Key, L, A, Any], /, *states: Mapping[Any, Any]
) -> State[Key, L, A, Any]: ...
@overload
def merge_state(
    state: dict[Key, Any], /, *states: Mapping[Any, Any]
) -> State[Key, Any, Any, Any]: ...
@overload
def merge_state(
    state: Mapping[Any, Any], /, *states: Mapping[Any, Any], cls: Callable[..., S]
) -> S: ...
def merge_state(
    state: Mapping[Any, Any], /, *states: Mapping[Any, Any], cls: Callable[..., Any] = State
) -> Any:
    """Return the union of States; of two leaves at one path the later wins."""
    if not states:
        return state
    return cls(merged((state, *states)))


@typed_as(lambda: state_overloads.split_state)
def split_state(
    state: State[Key, L, A, Any], first: Filter, /, *filters: Filter
) -> State[Key, L, A, Any] | tuple[State[Key, L, A, Any], ...]:
    """Return one State per filter; each leaf goes to the first filter that matches it.

    Raises:
        NoFilterMatchedError: A leaf matches no filter.
    """
    split: Any = state.split  # the overloads do not take this tuple of filters
    found: State[Key, L, A, Any] | tuple[State[Key, L, A, Any], ...] = split(first, *filters)
    return found


@typed_as(lambda: state_overloads.filter_state)
def filter_state(
    state: State[Key, L, A, Any], first: Filter, /, *filters: Filter
) -> State[Key, L, A, Any] | tuple[State[Key, L, A, Any], ...]:
    """Return one State per filter; leaves that no filter matches are dropped."""
    filter_: Any = state.filter  # as above
    found: State[Key, L, A, Any] | tuple[State[Key, L, A, Any], ...] = filter_(first, *filters)
    return found


@overload
def map_state(f: Callable[[Path, L], S], state: State[Key, L, A, F]) -> State[Key, S, A, F]: ...
@overload
def map_state(f: Callable[[Path, Any], S], state: dict[Key, Any]) -> State[Key, S, Any, Any]: ...
def map_state(f: Callable[[Path, Any], Any], state: Mapping[Any, Any]) -> State:
    """Return the State with ``f(path, leaf)`` in place of each leaf."""
    return State._of(mapped(f, state))


@overload
def diff(state: State[Key, L, A, F], other: Mapping[Any, Any]) -> State[Key, L, A, F]: ...
@overload
def diff(state: dict[Key, Any], other: Mapping[Any, Any]) -> State[Key, Any, Any, Any]: ...
def diff(state: Mapping[Any, Any], other: Mapping[Any, Any]) -> State:
    """Return the leaves of `state` at paths that `other` does not have."""
    return State._of(difference(state, other))
