"""Nested dicts of leaves: what States are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from typed_nnx._core.filters import Filter, to_predicates
from typed_nnx._core.paths import Path, path_order, sorted_keys
from typed_nnx._core.serialization import register_serialization
from typed_nnx._core.variable import Variable
from typed_nnx.errors import NoFilterMatchedError


def same_leaf(left: Any, right: Any) -> bool:
    """Whether two leaves are equal: for Variables type, metadata and value, for arrays all of it."""
    if left is right:
        return True
    if isinstance(left, Variable) or isinstance(right, Variable):
        return (
            type(left) is type(right)
            and left._meta == right._meta
            and same_leaf(left.get_raw_value(), right.get_raw_value())
        )
    if isinstance(left, jax.core.Tracer) or isinstance(right, jax.core.Tracer):
        return False  # known only when the program runs
    structure: Any
    leaves, structure = jax.tree.flatten(left)
    others, other_structure = jax.tree.flatten(right)
    return bool(structure == other_structure) and all(map(_same_value, leaves, others))


def _same_value(left: object, right: object) -> bool:
    if not isinstance(left, jax.Array | np.ndarray) or not isinstance(
        right, jax.Array | np.ndarray
    ):
        return type(left) is type(right) and bool(left == right)
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    if jnp.issubdtype(left.dtype, jax.dtypes.prng_key):
        left, right = jax.random.key_data(left), jax.random.key_data(right)
    return bool(np.array_equal(np.asarray(left), np.asarray(right)))


def describe_leaf(leaf: object) -> str:
    """Return the type, dtype and shape of a leaf in a few words: ``BatchStat, int32[]``."""
    if isinstance(leaf, Variable):
        return f"{type(leaf).__name__}, {_describe_value(leaf.get_raw_value())}"
    return _describe_value(leaf)


def _describe_value(value: object) -> str:
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    if dtype is None or shape is None:
        return type(value).__name__
    return f"{dtype}[{','.join(map(str, shape))}]"


Nested = dict[Any, Any]


class MixedLevel(dict[Any, Any]):
    """A level whose keys jax cannot sort, such as those of several types."""

    __slots__ = ()


_SORTED: frozenset[type] = frozenset({str, int})


def level_of(level: Nested) -> Nested:
    """Return a level in the form in which jax can flatten it."""
    kinds = {type(key) for key in level}
    if len(kinds) > 1:
        return MixedLevel(level)
    if not kinds <= _SORTED:
        try:
            sorted(level)
        except TypeError:
            return MixedLevel(level)
    return level


M = TypeVar("M", bound=Mapping[Any, Any])


def register_mapping(
    cls: type[M], entries: Callable[[M], Mapping[Any, Any]], make: Callable[[Nested], M]
) -> None:
    """Register a class of mappings as a pytree: its values are children, in the order of its keys."""

    def flatten(mapping: M) -> tuple[list[Any], tuple[Any, ...]]:
        found = entries(mapping)
        keys = tuple(sorted_keys(found))
        return [found[key] for key in keys], keys

    def flatten_with_keys(mapping: M) -> tuple[list[tuple[Any, Any]], tuple[Any, ...]]:
        values, keys = flatten(mapping)
        return list(zip(map(jax.tree_util.DictKey, keys), values, strict=True)), keys

    def unflatten(keys: tuple[Any, ...], values: Iterable[Any]) -> M:
        return make(dict(zip(keys, values, strict=True)))

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
    register_serialization(cls, tuple, tuple)


register_mapping(MixedLevel, dict, MixedLevel)


def normalized(mapping: Mapping[Any, Any]) -> Nested:
    """Return a nested dict with the same leaves; every mapping inside becomes a new dict."""
    return level_of(
        {
            key: normalized(value) if isinstance(value, Mapping) else value
            for key, value in mapping.items()
        }
    )


def flat_items(mapping: Mapping[Any, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield (path, leaf) in the order of the mapping."""
    for key, value in mapping.items():
        if isinstance(value, Mapping):
            yield from flat_items(value, (*path, key))
        else:
            yield (*path, key), value


def sorted_items(mapping: Mapping[Any, Any]) -> list[tuple[Path, Any]]:
    return sorted(flat_items(mapping), key=lambda item: path_order(item[0]))


def nested_of(items: Iterable[tuple[Path, Any]]) -> Nested:
    """Return the nested dict with these leaves; a later leaf replaces an earlier one."""
    root: Nested = {}
    for path, leaf in items:
        level = root
        for key in path[:-1]:
            inner = level.get(key)
            if not isinstance(inner, dict):
                inner = level[key] = {}
            level = inner
        level[path[-1]] = leaf
    return _settled(root)


def _settled(level: Nested) -> Nested:
    for key, value in level.items():
        if type(value) is dict:
            level[key] = _settled(value)
    return level_of(level)


def merged(mappings: Sequence[Mapping[Any, Any]]) -> Nested:
    """Return one nested dict with the leaves of all; later ones win."""
    return nested_of([item for mapping in mappings for item in flat_items(mapping)])


def difference(left: Mapping[Any, Any], right: Mapping[Any, Any]) -> Nested:
    """Return the leaves of `left` at paths that `right` has not."""
    taken = {path for path, _ in flat_items(right)}
    return nested_of([item for item in flat_items(left) if item[0] not in taken])


def grouped(
    items: Iterable[tuple[Path, Any]], filters: Sequence[Filter]
) -> tuple[list[list[tuple[Path, Any]]], list[tuple[Path, Any]]]:
    """Return the items that each filter takes, first come, and the rest."""
    predicates = to_predicates(filters)
    groups: list[list[tuple[Path, Any]]] = [[] for _ in predicates]
    rest: list[tuple[Path, Any]] = []
    for path, leaf in items:
        for index, predicate in enumerate(predicates):
            if predicate(path, leaf):
                groups[index].append((path, leaf))
                break
        else:
            rest.append((path, leaf))
    return groups, rest


def divided(
    function: str, items: Iterable[tuple[Path, Any]], filters: Sequence[Filter]
) -> list[list[tuple[Path, Any]]]:
    """Return the items that each filter takes; every leaf must be taken.

    Raises:
        NoFilterMatchedError: Some leaf matches no filter.
    """
    groups, rest = grouped(items, filters)
    if rest:
        raise NoFilterMatchedError(function, [(path, describe_leaf(leaf)) for path, leaf in rest])
    return groups


def mapped(
    function: Callable[[Path, Any], Any], mapping: Mapping[Any, Any], path: Path = ()
) -> Nested:
    """Return the nested dict with ``function(path, leaf)`` in place of each leaf."""
    found: Nested = {}
    for key in sorted_keys(mapping):
        value, here = mapping[key], (*path, key)
        is_level = isinstance(value, Mapping)
        found[key] = mapped(function, value, here) if is_level else function(here, value)
    return level_of(found)
