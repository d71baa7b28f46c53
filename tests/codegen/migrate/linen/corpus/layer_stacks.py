"""scan over layers: one set of weights for each step."""

import functools
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


class StackOfWeightsLast(nn.Module):
    @nn.compact
    def __call__(self, x):
        layers = nn.scan(Block, variable_axes={"params": 1}, split_rngs={"params": True}, length=3)
        return layers(4)(x, jnp.array([0.5, 1.0, 2.0]))[0]


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


class NormedLayer(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        return nn.BatchNorm(use_running_average=False)(nn.Dense(x.shape[-1])(x)), None


class NormedStack(nn.Module):
    @nn.compact
    def __call__(self, x):
        x, _ = nn.scan(
            NormedLayer,
            variable_axes={"params": 0, "batch_stats": 0},
            split_rngs={"params": True},
            length=3,
        )()(x, None)
        return x


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


class Stage(nn.Module):
    """A stack within a stack."""

    @nn.compact
    def __call__(self, x, _):
        x, _ = nn.scan(
            Block,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=nn.broadcast,
            length=2,
        )(3, name="inner")(x, 1.0)
        return x, x.sum()


class Stages(nn.Module):
    @nn.compact
    def __call__(self, x):
        lift = functools.partial(nn.scan, variable_axes={"params": 0}, split_rngs={"params": True})
        return lift(Stage, length=3)(name="outer")(x, None)


class ManyStacks(nn.Module):
    """Members of stacks."""

    @nn.compact
    def __call__(self, x):
        stack = nn.scan(
            Block,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            length=2,
            in_axes=nn.broadcast,
        )
        members = nn.vmap(
            stack,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=None,
            axis_size=3,
        )
        return members(4)(x, 2.0)[0]


class Policy(nn.Module):
    @nn.compact
    def __call__(self, x):
        block = nn.remat(Block, policy=jax.checkpoint_policies.dots_saveable)
        x, _ = block(3)(x, 1.0)
        x, _ = Block(2)(x, 1.0)
        x, _ = block(4, name="last")(x, scale=2.0)
        return x


X = jnp.linspace(-1, 1, 10).reshape(2, 5)

EXAMPLES = [
    Example(Build("Stack", 3), X, deterministic=True),
    Example(Build("StackOfWeightsLast"), X),
    Example(Build("StackWithInputs"), X, jnp.ones((3, 2, 4)), jnp.ones((3, 2, 5))),
    Example(Build("NormedStack"), X, mutable=("batch_stats",)),
    Example(Build("MaybeRemat", False), X),
    Example(Build("MaybeRemat", True, policy=jax.checkpoint_policies.nothing_saveable), X),
    Example(Build("Stages"), X),
    Example(Build("ManyStacks"), X),
    Example(Build("Policy"), X),
]
