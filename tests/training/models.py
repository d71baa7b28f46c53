"""Both libraries with their training tools, a network, and transformations of every kind."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx as flax_nnx

import typed_nnx
from typed_nnx.training import ema, metrics, optimizer, train_state

# Untyped: a test runs the same lines with both libraries.
OURS: Any = SimpleNamespace(
    **{
        **vars(typed_nnx),
        "Optimizer": optimizer.Optimizer,
        "ModelAndOptimizer": optimizer.ModelAndOptimizer,
        "TrainState": train_state.TrainState,
        "EMA": ema.EMA,
        "metrics": metrics,
        "Metric": metrics.Metric,
        "MultiMetric": metrics.MultiMetric,
    }
)
FLAX: Any = flax_nnx

both = pytest.mark.parametrize("lib", [OURS, FLAX], ids=["ours", "flax"])
modes = pytest.mark.parametrize("graph", [True, False], ids=["graphs", "trees"])


def network(lib: Any, seed: int = 0) -> Any:
    """Make a network with nested layers, a statistic, metadata and two dtypes."""

    class Layer(lib.Module):
        def __init__(self, key: jax.Array) -> None:
            self.w = lib.Param(jax.random.normal(key, (2, 2)), tag="matrix")
            self.b = lib.Param(jnp.zeros(2))
            self.calls = lib.BatchStat(jnp.array(0.0))

        def __call__(self, x: jax.Array) -> jax.Array:
            self.calls[...] += 1.0
            return jnp.tanh(x @ self.w[...] + self.b[...][None, :])

    class Network(lib.Module):
        def __init__(self) -> None:
            keys = jax.random.split(jax.random.key(seed), 3)
            self.layers = lib.List([Layer(keys[0]), Layer(keys[1])])
            self.head = lib.Dict(out=Layer(keys[2]))
            self.scale = lib.Param(jnp.ones(2, jnp.bfloat16))

        def __call__(self, x: jax.Array) -> jax.Array:
            for layer in self.layers:
                x = layer(x)
            return self.head.out(x) * self.scale[...].astype(x.dtype)[None, :]

    return Network()


def loss(model: Any, x: jax.Array) -> jax.Array:
    """Return the mean square of the outputs."""
    return jnp.square(model(x)).mean()


def train_step(lib: Any) -> Callable[[Any, Any, jax.Array], jax.Array]:
    """Return a step that updates a model and an optimizer and returns the loss before it."""

    def step(model: Any, opt: Any, x: jax.Array) -> jax.Array:
        value, grads = lib.value_and_grad(loss)(model, x)
        opt.update(model, grads)
        result: jax.Array = value
        return result

    return step


def batch(number: int = 0) -> jax.Array:
    """Return float [3, 2]."""
    return jnp.cos(jnp.arange(6.0) + number).reshape(3, 2)


def ones_like_params(lib: Any, model: Any) -> Any:
    """Return gradients of one for each Param."""
    return jax.tree.map(jnp.ones_like, lib.state(model, lib.Param))


def is_matrix(tree: Any) -> Any:
    """Return which values are matrices."""
    return jax.tree.map(lambda x: x.ndim > 1, tree)


def kind_of_value(tree: Any) -> Any:
    """Return a label for each value."""
    return jax.tree.map(lambda x: "matrix" if x.ndim > 1 else "vector", tree)


TRANSFORMATIONS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: optax.sgd(0.1),
    "momentum": lambda: optax.sgd(0.1, momentum=0.9, nesterov=True),
    "adam": lambda: optax.adam(1e-2),
    "adamw with a mask": lambda: optax.adamw(1e-2, mask=is_matrix),
    "a schedule": lambda: optax.adam(optax.cosine_decay_schedule(0.1, 10)),
    "lion": lambda: optax.lion(0.1),
    "adafactor": lambda: optax.adafactor(0.1),
    "clipped": lambda: optax.chain(optax.clip_by_global_norm(0.1), optax.adam(0.1)),
    "masked": lambda: optax.masked(optax.sgd(0.1), is_matrix),
    "MultiSteps": lambda: optax.MultiSteps(optax.adam(0.1), every_k_schedule=2),
    "inject_hyperparams": lambda: optax.inject_hyperparams(optax.adam)(learning_rate=0.1),
    "multi_transform": lambda: optax.multi_transform(
        {"matrix": optax.adam(0.1), "vector": optax.set_to_zero()}, kind_of_value
    ),
    "averaged": lambda: optax.chain(optax.sgd(0.1), optax.ema(0.9)),
    "apply_if_finite": lambda: optax.apply_if_finite(optax.adam(0.1), 3),
    "schedule_free": lambda: optax.contrib.schedule_free_adamw(0.1),
}
each_transformation = pytest.mark.parametrize("name", list(TRANSFORMATIONS))


def contents(lib: Any, node: Any) -> list[tuple[Any, ...]]:
    """Return path, Variable type, metadata, dtype and elements of each leaf of an object."""
    found = []
    for path, leaf in lib.to_flat_state(lib.state(node)):
        meta = sorted((key, str(value)) for key, value in leaf.get_metadata().items())
        value = leaf.get_raw_value()
        array = np.asarray(value)
        found.append((path, type(leaf).__name__, meta, str(array.dtype), array.tolist()))
    return found


def trees(value: Any) -> list[tuple[str, str, Any]]:
    """Return key path, dtype and elements of each array in a tree."""
    pairs = jax.tree_util.tree_leaves_with_path(value)
    return [
        (jax.tree_util.keystr(path), str(leaf.dtype), np.asarray(leaf).tolist())
        for path, leaf in pairs
    ]
