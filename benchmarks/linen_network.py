"""The network of `benchmarks.models` in Linen: variables are nested dicts, and calls go through `apply`."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from benchmarks.models import PER_BLOCK

SHAPE = (2,)


class Linear(nn.Module):
    """A kernel and a bias."""

    in_features: int
    out_features: int
    use_bias: bool = True
    param_dtype: Any = jnp.float32

    def setup(self) -> None:
        """Make the parameters."""
        self.kernel = self.param("kernel", nn.initializers.zeros, SHAPE)
        self.bias = self.param("bias", nn.initializers.zeros, SHAPE)

    def __call__(self) -> Any:
        """Return something of the parameters, so that `init` makes them."""
        return self.kernel + self.bias


class Norm(nn.Module):
    """A scale and a mean of its own collection."""

    num_features: int
    use_running_average: bool = False
    momentum: float = 0.99

    def setup(self) -> None:
        """Make the variables."""
        self.scale = self.param("scale", nn.initializers.zeros, SHAPE)
        self.mean = self.variable("batch_stats", "mean", jnp.zeros, SHAPE)

    def __call__(self) -> Any:
        """Return something of the variables, so that `init` makes them."""
        return self.scale + self.mean.value


class Block(nn.Module):
    """Two linear layers around a norm."""

    width: int

    def setup(self) -> None:
        """Name the layers."""
        self.up = Linear(self.width, 4 * self.width)
        self.norm = Norm(4 * self.width)
        self.down = Linear(4 * self.width, self.width)

    def __call__(self) -> Any:
        """Call all layers."""
        return self.up() + self.norm() + self.down()


class Network(nn.Module):
    """Blocks and loose scales, `count` variables together."""

    count: int
    width: int = 256

    def setup(self) -> None:
        """Name the blocks and make the scales."""
        blocks, rest = divmod(self.count, PER_BLOCK)
        self.blocks = [Block(self.width) for _ in range(blocks)]
        zeros = nn.initializers.zeros
        self.scales = [self.param(f"scale_{i}", zeros, SHAPE) for i in range(rest)]

    def __call__(self) -> Any:
        """Call all blocks."""
        return sum((block() for block in self.blocks), jnp.zeros(SHAPE)) + sum(self.scales)

    def reading(self, x: Any) -> Any:
        """Read one variable; the result depends on the mode of the first norm."""
        norm = self.blocks[0].norm
        return x + norm.scale.sum() * (2 if norm.use_running_average else 1)


def linen_model_of(size: int) -> tuple[Network, Any]:
    """Return the network and its variables, of which each has its own buffer."""
    network = Network(size)
    variables = jax.jit(network.init)(jax.random.key(0))
    return network, jax.tree.map(lambda leaf: leaf + 0, variables)
