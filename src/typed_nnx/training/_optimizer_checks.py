"""What an `Optimizer` looks at before and after a step: a filter that chooses nothing, a model that changed."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

from typed_nnx._core.filters import Filter, Nothing, to_predicate
from typed_nnx._core.locate import stacklevel_of_caller
from typed_nnx._core.nested import flat_items
from typed_nnx._core.paths import Path, key_of_entry
from typed_nnx._core.rngs import RngState
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_types import BatchStat, Cache, Intermediate, OptState, Perturbation
from typed_nnx._graph.split_merge import state
from typed_nnx.errors import ChangedModelError, ChangedOptStateError, ChangedShapeError
from typed_nnx.training._values import is_variable, leaf_pairs

Shape: TypeAlias = tuple[int, ...] | None

# What calls write themselves: a model without others may well have nothing to train.
_WRITTEN_BY_CALLS = (BatchStat, Cache, Intermediate, OptState, Perturbation, RngState)


def warn_if_nothing_is_chosen(
    optimizer: str, model: Any, params: Any, wrt: Filter, graph: bool | None
) -> None:
    """Warn of a filter that chooses nothing of a model in which there is something to train.

    Args:
        optimizer: The name of the class.
        model: The model.
        params: What `wrt` chooses of it.
        wrt: The filter.
        graph: False asserts that the model is a tree.
    """
    if not isinstance(params, State) or params.raw_mapping:
        return
    if isinstance(to_predicate(wrt), Nothing):  # False, None: nothing was to be chosen
        return
    rest = state(model, graph=graph)
    found = (
        list(map(_kind, (leaf for _, leaf in flat_items(rest)))) if isinstance(rest, State) else []
    )
    kinds = Counter(kind for kind in found if kind is not None)
    if not kinds:
        return
    has = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    names = [kind for kind, _ in kinds.most_common() if kind != _BARE]
    fix = (
        f"nnx.{optimizer}(model, tx, wrt={names[0]})"
        if names
        else "put the arrays to train into Variables: self.w = nnx.Param(w)"
    )
    warnings.warn(
        f"{optimizer}: wrt={_shown(wrt)} chooses nothing of the {type(model).__name__}, which has {has}; "
        f"`update` will change nothing.\n  Fix: {fix}",
        UserWarning,
        stacklevel=stacklevel_of_caller(),
    )


_BARE = "bare array"


def _kind(leaf: Any) -> str | None:
    """Return the name under which a leaf may be trained; None if it is not for that."""
    value = leaf.get_raw_value() if isinstance(leaf, Variable) else leaf
    dtypes = [getattr(part, "dtype", None) for part in jax.tree.leaves(value)]
    if not any(dtype is not None and jnp.issubdtype(dtype, jnp.inexact) for dtype in dtypes):
        return None
    if not isinstance(leaf, Variable):
        return _BARE
    return None if isinstance(leaf, _WRITTEN_BY_CALLS) else _shown(type(leaf))


def _shown(wrt: Filter) -> str:
    if not isinstance(wrt, type):
        return repr(wrt)
    is_public = wrt.__module__.startswith("typed_nnx.")
    return f"nnx.{wrt.__name__}" if is_public else wrt.__name__


def check_model(function: str, opt_state: Any, params: Any, error: Exception | None = None) -> None:
    """Say how a model differs from the one that the state of an optimizer was made for.

    Args:
        function: The function that was called.
        opt_state: The state of the transformation.
        params: The Variables to update.
        error: What the transformation raised.

    Raises:
        ChangedModelError: There are Variables that the state knows nothing of, or the other way round,
            or of other shapes.
    """
    if not isinstance(params, State):
        return
    now: dict[Path, Shape] = {path: _shape(leaf) for path, leaf in flat_items(params)}
    known: dict[Path, set[Shape]] = {}
    for part in _states_in(opt_state):
        for path, leaf in flat_items(part):
            known.setdefault(path, set()).add(_shape(leaf))
    if not known:  # the transformation keeps nothing for each parameter
        return
    appeared = [path for path in now if path not in known]
    vanished = [path for path in known if path not in now]
    reshaped: list[tuple[Path, object, object]] = []
    for path, shape in now.items():
        # Factors of a parameter, or its history, have another number of axes.
        then = [s for s in known.get(path, ()) if s is not None and shape and len(s) == len(shape)]
        if then and shape not in then:
            reshaped.append((path, max(then, key=math.prod), shape))
    if appeared or vanished or reshaped:
        raise ChangedModelError(function, appeared, vanished, reshaped) from error


def _states_in(opt_state: Any) -> Iterator[State[Any, Any, Any, Any]]:
    for part in jax.tree.leaves(opt_state, is_leaf=lambda x: isinstance(x, State)):
        if isinstance(part, State):
            yield part


def _shape(leaf: Any) -> Shape:
    value = leaf.get_raw_value() if isinstance(leaf, Variable) else leaf
    return getattr(value, "shape", None)


def check_shapes(old: Any, new: Any) -> None:
    """Refuse new values of parameters that have other shapes.

    Raises:
        ChangedShapeError: One has.
    """
    for path, before, after in leaf_pairs(old, new):
        was, now = getattr(before, "shape", None), getattr(after, "shape", None)
        if was != now and was is not None:
            raise ChangedShapeError(path, was, now or ())


def same_structure(treedef: Any, old: Any, new: Any) -> list[Any]:
    """Return the leaves of a new state of the transformation in the order of the old one.

    Raises:
        ChangedOptStateError: There are others.
    """
    try:
        leaves: list[Any] = treedef.flatten_up_to(new)
    except (ValueError, TypeError):
        before, after = _by_path(old), _by_path(new)
        missing = [path for path in before if path not in after]
        extra = [path for path in after if path not in before]
        if missing or extra:
            raise ChangedOptStateError(missing, extra) from None
        return [after[path] for path in before]
    return leaves


def _by_path(tree: Any) -> dict[tuple[Any, ...], Any]:
    found = jax.tree_util.tree_leaves_with_path(tree, is_leaf=is_variable)
    return {tuple(map(key_of_entry, path)): leaf for path, leaf in found}
