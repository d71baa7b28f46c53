"""The same network for typed-nnx, flax and equinox, with a chosen number of Variables."""

from __future__ import annotations

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

# Linear 2, norm 2, linear 2.
PER_BLOCK = 6
BLOCKS_PER_STAGE = 8


@functools.cache
def network_class(nnx: Any) -> Any:
    """Return the network as a class of an NNX, typed-nnx or flax.

    The sizes are computed as layers compute them (``4 * width``), so that equal static values are
    different objects in each layer.
    """

    class Linear(nnx.Module):
        def __init__(self, in_features: int, out_features: int, value: jax.Array) -> None:
            self.kernel = nnx.Param(value)
            self.bias = nnx.Param(value)
            self.in_features = in_features
            self.out_features = out_features
            self.use_bias = True
            self.dtype = None
            self.param_dtype = jnp.float32
            self.precision = None
            self.activation = jnp.tanh

    class Norm(nnx.Module):
        def __init__(self, num_features: int, value: jax.Array) -> None:
            self.scale = nnx.Param(value)
            self.mean = nnx.BatchStat(value)
            self.num_features = num_features
            self.use_running_average = False
            self.momentum = 0.99
            self.epsilon = 1e-5
            self.axis = -1
            self.dtype = None

    class Block(nnx.Module):
        def __init__(self, width: int, value: jax.Array) -> None:
            self.up = Linear(width, 4 * width, value)
            self.norm = Norm(4 * width, value)
            self.down = Linear(4 * width, width, value)
            self.residual = True

    class Stage(nnx.Module):
        def __init__(self, blocks: int, width: int, value: jax.Array) -> None:
            self.blocks = nnx.List([Block(width, value) for _ in range(blocks)])
            self.width = width

    class Network(nnx.Module):
        def __init__(self, count: int, width: int = 256) -> None:
            value = jnp.zeros((2,))
            blocks, rest = divmod(count, PER_BLOCK)
            sizes = [
                min(BLOCKS_PER_STAGE, blocks - first)
                for first in range(0, blocks, BLOCKS_PER_STAGE)
            ]
            self.stages = nnx.List([Stage(size, width, value) for size in sizes])
            self.scales = nnx.List([nnx.Param(value) for _ in range(rest)])

    for cls in (Linear, Norm, Block, Stage, Network):
        cls.__qualname__ = cls.__name__  # models are not local classes, whose types are not cached
    return Network


def build(nnx: Any, count: int) -> Any:
    """Return a new network of typed-nnx or flax with `count` Variables."""
    return network_class(nnx)(count)


class EquinoxLinear(eqx.Module):
    """A linear layer with the static fields that those of NNX have."""

    kernel: jax.Array
    bias: jax.Array
    in_features: int = eqx.field(static=True)
    out_features: int = eqx.field(static=True)
    use_bias: bool = eqx.field(static=True, default=True)
    dtype: Any = eqx.field(static=True, default=None)
    param_dtype: Any = eqx.field(static=True, default=jnp.float32)
    precision: Any = eqx.field(static=True, default=None)
    activation: Any = eqx.field(static=True, default=jnp.tanh)


class EquinoxNorm(eqx.Module):
    """A norm with the static fields that those of NNX have."""

    scale: jax.Array
    mean: jax.Array
    num_features: int = eqx.field(static=True)
    use_running_average: bool = eqx.field(static=True, default=False)
    momentum: float = eqx.field(static=True, default=0.99)
    epsilon: float = eqx.field(static=True, default=1e-5)
    axis: int = eqx.field(static=True, default=-1)
    dtype: Any = eqx.field(static=True, default=None)


class EquinoxBlock(eqx.Module):
    """Two linear layers around a norm, as in the other libraries' network."""

    up: EquinoxLinear
    norm: EquinoxNorm
    down: EquinoxLinear
    residual: bool = eqx.field(static=True, default=True)


class EquinoxNetwork(eqx.Module):
    """The network of equinox: blocks and loose scales."""

    blocks: list[EquinoxBlock]
    scales: list[jax.Array]


def build_equinox(count: int, width: int = 256) -> EquinoxNetwork:
    """Return a new network of equinox with `count` arrays."""
    value = jnp.zeros((2,))
    blocks, rest = divmod(count, PER_BLOCK)
    return EquinoxNetwork(
        blocks=[
            EquinoxBlock(
                up=EquinoxLinear(value, value, width, 4 * width),
                norm=EquinoxNorm(value, value, 4 * width),
                down=EquinoxLinear(value, value, 4 * width, width),
            )
            for _ in range(blocks)
        ],
        scales=[value] * rest,
    )
