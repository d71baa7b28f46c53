"""scan over layers: one set of weights for each step."""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Block(nn.Module):
    width: int
    rate: float = 0.0

    @nn.compact
    def __call__(self, x, scale, deterministic: bool = True):
        y = nn.gelu(nn.Dense(self.width)(nn.LayerNorm()(x)))
        y = nn.Dropout(self.rate)(y, deterministic=deterministic)
        return x + scale * nn.Dense(x.shape[-1])(y), None


class Stack(nn.Module):
    depth: int

    @nn.compact
    def __call__(self, x, deterministic=True):
        x, _ = nn.scan(
            nn.remat(Block, static_argnums=(3,), prevent_cse=False),
            variable_axes={"params": 0},
            split_rngs={"params": True, "dropout": True},
            in_axes=(nn.broadcast, nn.broadcast),
            length=self.depth,
            metadata_params={nn.PARTITION_NAME: "layers"},
        )(8, rate=0.1, name="layers")(x, 0.5, deterministic)
        return nn.Dense(2)(x)


class Conditioned(nn.Module):
    @nn.compact
    def __call__(self, carry, inputs):
        x, total = carry
        y = nn.tanh(nn.Dense(x.shape[-1])(x) + nn.Dense(x.shape[-1])(inputs["shift"]))
        return (y, total + y.sum()), {"mean": y.mean(-1), "gain": y * inputs["gain"]}


class StackWithInputs(nn.Module):
    """The number of layers is that of the inputs."""

    def setup(self):
        self.layers = nn.scan(
            Conditioned,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=0,
            out_axes=1,
            reverse=True,
        )()

    def __call__(self, x, shift, gain):
        (x, total), found = self.layers((x, 0.0), {"shift": shift, "gain": gain})
        return x, total, found


class MaybeRemat(nn.Module):
    remat: bool = False
    policy: Any = None

    @nn.compact
    def __call__(self, x):
        block_cls = Block
        if self.remat:
            block_cls = nn.checkpoint(block_cls, policy=self.policy)
        for width in (3, 4):
            x, _ = block_cls(width)(x, 1.0)
        return x


X = jnp.linspace(-1, 1, 10).reshape(2, 5)

EXAMPLES = [
    Example(Build("Stack", 3), X, deterministic=True),
    Example(Build("StackWithInputs"), X, jnp.ones((3, 2, 4)), jnp.ones((3, 2, 5))),
    Example(Build("MaybeRemat", False), X),
    Example(Build("MaybeRemat", True, policy=jax.checkpoint_policies.nothing_saveable), X),
]
