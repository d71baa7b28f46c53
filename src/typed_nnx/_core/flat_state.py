"""`FlatState`: the leaves of a State as sorted (path, leaf) pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

import jax

from typed_nnx._core.display import Representable, Rows, pair_items
from typed_nnx._core.filters import Filter
from typed_nnx._core.leaves import describe_leaf
from typed_nnx._core.nested import Nested, grouped, nested_of
from typed_nnx._core.paths import Path, path_order
from typed_nnx.errors import NoFilterMatchedError

V = TypeVar("V")


class FlatState(Sequence[tuple[Path, V]], Representable, Generic[V]):
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

    def split(self, first: Filter, /, *filters: Filter) -> FlatState[V] | tuple[FlatState[V], ...]:
        """Return one FlatState per filter; each leaf goes to the first filter that matches it.

        Raises:
            NoFilterMatchedError: A leaf matches no filter.
        """
        groups, rest = grouped(self, (first, *filters))
        if rest:
            raise NoFilterMatchedError("FlatState.split", [(p, describe_leaf(x)) for p, x in rest])
        return _one_or_all([FlatState(group, sort=False) for group in groups])

    def filter(self, first: Filter, /, *filters: Filter) -> FlatState[V] | tuple[FlatState[V], ...]:
        """Return one FlatState per filter and leave out the leaves that none matches."""
        groups, _ = grouped(self, (first, *filters))
        return _one_or_all([FlatState(group, sort=False) for group in groups])

    @staticmethod
    def merge(
        flat_state: Iterable[tuple[Path, Any]], /, *flat_states: Iterable[tuple[Path, Any]]
    ) -> FlatState[Any]:
        """Return one FlatState with the leaves of all; later ones win."""
        found = {path: leaf for flat in (flat_state, *flat_states) for path, leaf in flat}
        return FlatState(found.items(), sort=True)

    def to_nested_state(self) -> Nested:
        """Return the leaves as a nested dict."""
        return nested_of(self)

    def __len__(self) -> int:
        return len(self._paths)

    def __nnx_repr__(self) -> Rows:
        return pair_items(type(self), self)

    def __iter__(self) -> Iterator[tuple[Path, V]]:
        return iter(zip(self._paths, self._leaves, strict=True))


def _one_or_all(states: list[FlatState[V]]) -> FlatState[V] | tuple[FlatState[V], ...]:
    return states[0] if len(states) == 1 else tuple(states)


def _flatten(flat: FlatState[Any]) -> tuple[list[Any], tuple[Path, ...]]:
    return flat.leaves, flat.paths


def _flatten_with_keys(flat: FlatState[Any]) -> tuple[list[tuple[Any, Any]], tuple[Path, ...]]:
    keys = [(jax.tree_util.DictKey(path), leaf) for path, leaf in flat]
    return keys, flat.paths


def _unflatten(paths: tuple[Path, ...], leaves: Iterable[Any]) -> FlatState[Any]:
    return FlatState.from_sorted_keys_values(paths, list(leaves))


jax.tree_util.register_pytree_with_keys(FlatState, _flatten_with_keys, _unflatten, _flatten)
