"""Variables that wait for the submodule that they belong to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax

from typed_nnx._core.paths import sorted_keys
from typed_nnx._core.state import State


class ModuleState(State[Any, Any, Any, Any]):
    """The Variables of a submodule that `apply` was given and that is not made yet.

    It stands in the attribute of the submodule until that is assigned.
    """

    __slots__ = ()


def _flatten(state: ModuleState) -> tuple[list[tuple[Any, Any]], tuple[Any, ...]]:
    keys = tuple(sorted_keys(state))
    return [(jax.tree_util.DictKey(key), state.raw_mapping[key]) for key in keys], keys


def _unflatten(keys: tuple[Any, ...], values: Iterable[Any]) -> ModuleState:
    return ModuleState(dict(zip(keys, values, strict=True)), _copy=False)


jax.tree_util.register_pytree_with_keys(ModuleState, _flatten, _unflatten)
