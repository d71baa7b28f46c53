"""Models and Python loops that the tests of `vmap` and `scan` compare with, for both libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def model_of(lib: Any, **attributes: Any) -> Any:
    """A Module with these attributes, in this order."""
    base: Any = lib.Module

    class Model(base):
        def __init__(self) -> None:
            for name, value in attributes.items():
                setattr(self, name, value)

        def __call__(self, x: Any) -> Any:
            return self.weight[...] * x

    return Model()


def stacked_model(lib: Any, lanes: int = 4) -> Any:
    """A Module for `lanes` lanes: float weight [lanes, 3], float total [lanes], a nested one."""
    weight = jnp.arange(3.0 * lanes).reshape(lanes, 3)
    inner = model_of(lib, bias=lib.Param(jnp.arange(1.0, lanes + 1.0)))
    return model_of(
        lib, weight=lib.Param(weight), total=lib.BatchStat(jnp.zeros(lanes)), inner=inner, kind="a"
    )


def update(model: Any, x: Any) -> Any:
    """Read and write every Variable of a lane; float x [3] -> float [3]."""
    model.total[...] += x.sum()
    model.inner.bias[...] *= 2.0
    return model.weight[...] * x + model.inner.bias[...].reshape(1) + model.total[...].reshape(1)


def values(node: Any) -> list[Any]:
    """The leaves of an object, by path, in a form that ``==`` compares."""
    found = jax.tree_util.tree_leaves_with_path(node)
    return sorted((jax.tree_util.keystr(path), np.asarray(leaf).tolist()) for path, leaf in found)


def lanes_of(tree: Any) -> list[Any]:
    """Copies of a tree, one for each index of the first axis of its leaves."""
    count = jax.tree.leaves(tree)[0].shape[0]
    return [jax.tree.map(lambda leaf: leaf[index], tree) for index in range(count)]  # noqa: B023 -- called at once


def stacked(trees: list[Any]) -> Any:
    """The trees as one, with a new first axis."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def vmap_by_loop(step: Callable[..., Any], model: Any, *xs: Any) -> tuple[Any, Any]:
    """What ``vmap(step)(model, *xs)`` returns and leaves in the model, by calling lane after lane."""
    lanes = lanes_of((model, xs))
    outputs = [step(lane, *lane_xs) for lane, lane_xs in lanes]
    return stacked(outputs), stacked([lane for lane, _ in lanes])


def scan_by_loop(
    step: Callable[..., Any], layers: Any, carry: Any, *, reverse: bool = False
) -> tuple[Any, Any]:
    """The carry after ``step(layer, carry)`` for layer after layer, and the layers as one."""
    each = lanes_of(layers)
    for layer in reversed(each) if reverse else each:
        carry = step(layer, carry)
    return carry, stacked(each)
