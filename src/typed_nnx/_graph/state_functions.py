"""The functions over States; most are methods of `State` too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from typed_nnx._core.filters import Filter
from typed_nnx._core.nested import difference, mapped, merged, nested_of, sorted_items
from typed_nnx._core.paths import Path
from typed_nnx._core.pure_dict import pure_dict_of, replaced_by_pure_dict
from typed_nnx._core.pure_dict import restore_int_paths as restore_int_paths
from typed_nnx._core.state import FlatState, State

V = TypeVar("V")


def to_flat_state(state: Mapping[Any, Any]) -> FlatState[Any]:
    """Return the leaves of a State with their paths, sorted by path."""
    return FlatState(sorted_items(state), sort=False)


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
    return pure_dict_of(state, extract_fn)


def replace_by_pure_dict(
    state: State[Any, Any, Any, Any],
    pure_dict: Mapping[Any, Any],
    replace_fn: Callable[[Any, Any], Any] | None = None,
) -> None:
    """Put the values of a pure dict into a State, in new Variables.

    Raises:
        ValueError: The pure dict has a path that the State has not.
    """
    changed = replaced_by_pure_dict(state, pure_dict, replace_fn)
    for key in list(state):
        del state[key]
    state.update(changed)


def merge_state(
    state: Mapping[Any, Any], /, *states: Mapping[Any, Any], cls: Callable[..., Any] = State
) -> Any:
    """Return one State with the leaves of all; later ones win."""
    if not states:
        return state
    return cls(merged((state, *states)))


def split_state(state: State[Any, Any, Any, Any], first: Filter, /, *filters: Filter) -> Any:
    """Return one State per filter; each leaf goes to the first filter that matches it.

    Raises:
        NoFilterMatchedError: A leaf matches no filter.
    """
    split: Any = state.split
    return split(first, *filters)


def filter_state(state: State[Any, Any, Any, Any], first: Filter, /, *filters: Filter) -> Any:
    """Return one State per filter and leave out the leaves that none matches."""
    filter_: Any = state.filter
    return filter_(first, *filters)


def map_state(f: Callable[[Path, Any], Any], state: Mapping[Any, Any]) -> State[Any, Any, Any, Any]:
    """Return the State with ``f(path, leaf)`` in the place of each leaf."""
    return State._of(mapped(f, state))


def diff(state: Mapping[Any, Any], other: Mapping[Any, Any]) -> State[Any, Any, Any, Any]:
    """Return the leaves of `state` at paths that `other` has not."""
    return State._of(difference(state, other))
