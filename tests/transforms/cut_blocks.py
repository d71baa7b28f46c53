"""A small model that is cut over devices, and its training in plain jax on one device."""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.transforms.library import nnx

RATE = 0.25


class Count(nnx.Variable):
    """How often the model was called."""


class Block(nnx.Module):
    """Two dense layers, of which the first can be cut by columns and the second by rows."""

    def __init__(self) -> None:
        self.up = nnx.Param(first_up())
        self.down = nnx.Param(first_down())
        self.count = Count(jnp.array(0))

    def __call__(self, x: jax.Array) -> jax.Array:
        self.count[...] += 1
        return forward(self.up[...], self.down[...], x)


def first_up() -> jax.Array:
    return jnp.sin(jnp.arange(32.0)).reshape(4, 8)


def first_down() -> jax.Array:
    return jnp.cos(jnp.arange(32.0)).reshape(8, 4)


def forward(up: jax.Array, down: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ up) @ down


def loss(up: jax.Array, down: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.square(forward(up, down, x)).mean()


def inputs() -> jax.Array:
    return jnp.cos(jnp.arange(32.0) / 5).reshape(8, 4)


def call(block: tp.Any, x: jax.Array) -> tp.Any:
    return block(x)


def descend(block: tp.Any, x: jax.Array) -> tp.Any:
    """Take one step down the gradient and return the loss before it."""
    value, slopes = nnx.value_and_grad(lambda block, x: jnp.square(block(x)).mean())(block, x)
    for name in ("up", "down"):
        getattr(block, name)[...] -= RATE * slopes[name][...]
    return value


def descent(steps: int) -> tuple[list[float], jax.Array, jax.Array]:
    """Give the losses and the weights after `steps`, in plain jax on one device."""
    up, down, losses = first_up(), first_down(), []
    for _ in range(steps):
        value, slopes = jax.value_and_grad(loss, (0, 1))(up, down, inputs())
        losses.append(float(value))
        up, down = up - RATE * slopes[0], down - RATE * slopes[1]
    return losses, up, down


def mesh_of(kind: AxisType = AxisType.Auto) -> Mesh:
    """Lay the eight devices out as two rows of data by four columns of the model."""
    return jax.make_mesh((2, 4), ("data", "model"), axis_types=(kind, kind))


def one_axis(name: str) -> Mesh:
    """Lay the eight devices out in one row."""
    return jax.make_mesh((8,), (name,), axis_types=(AxisType.Auto,))


def model_shardings(mesh: Mesh) -> dict[tp.Any, NamedSharding]:
    return {filters: NamedSharding(mesh, spec) for filters, spec in model_specs().items()}


def model_specs() -> dict[tp.Any, P]:
    return {
        nnx.PathContains("up"): P(None, "model"),
        nnx.PathContains("down"): P("model", None),
        ...: P(),
    }


def lies(array: jax.Array, mesh: Mesh, *spec: tp.Any) -> None:
    """Assert how an array is cut over the devices."""
    wanted = NamedSharding(mesh, P(*spec))
    assert array.sharding.is_equivalent_to(wanted, array.ndim), (array.sharding, wanted)


def lies_cut(block: tp.Any, mesh: Mesh) -> None:
    lies(block.up[...], mesh, None, "model")
    lies(block.down[...], mesh, "model", None)
    lies(block.count[...], mesh)


def same(got: tp.Any, wanted: tp.Any) -> None:
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=2e-5, atol=1e-6)
