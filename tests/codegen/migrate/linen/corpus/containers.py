"""Modules in lists, dicts and tuples, and in Sequential."""

from typing import Any, Dict, List, NamedTuple, Sequence

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class Pair(NamedTuple):
    left: Any
    right: Any


class HeadDict(nn.Module):
    head_sizes: Dict[str, int]

    def setup(self):
        self.trunk = nn.Dense(6)
        self.heads = {name: nn.Dense(size) for name, size in self.head_sizes.items()}

    def __call__(self, x):
        h = nn.relu(self.trunk(x))
        return {name: head(h) for name, head in self.heads.items()}


class NestedContainers(nn.Module):
    def setup(self):
        self.stages = [[nn.Dense(4), nn.Dense(5)], [nn.Dense(6)]]
        self.parts = {"in": nn.Dense(3), "out": [nn.Dense(2), nn.Dense(7)]}
        self.pair = Pair(nn.Dense(3), nn.Dense(4))
        self.both = (nn.LayerNorm(), nn.Dense(2))

    def __call__(self, x):
        for stage in self.stages:
            for layer in stage:
                x = nn.tanh(layer(x))
        x = self.parts["in"](x)
        for layer in self.parts["out"]:
            x = layer(x)
        left, right = self.pair.left(x), self.pair.right(x)
        norm, out = self.both
        return out(norm(x)), left, right


class GLU(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        value, gate = jnp.split(nn.Dense(2 * self.width)(x), 2, axis=-1)
        return value * nn.sigmoid(gate)


class GivenHeads(nn.Module):
    trunk: nn.Module
    heads: Dict[str, nn.Module]

    def __call__(self, x):
        h = self.trunk(x)
        return {key: self.heads[key](h) for key in sorted(self.heads)}


class MultiModal(nn.Module):
    """A dict of inputs, an encoder for each of its keys."""

    keys: Sequence[str]
    width: int

    def setup(self):
        self.encoders = {key: GLU(self.width) for key in self.keys}
        self.fuse = nn.Dense(self.width)

    def __call__(self, batch):
        encoded = [self.encoders[key](batch[key]) for key in self.keys]
        return self.fuse(jnp.concatenate(encoded, axis=-1))


class ParallelBranches(nn.Module):
    """A list comprehension that builds and calls."""

    kernel_sizes: Sequence[int]
    channels: int

    @nn.compact
    def __call__(self, x):
        outs: List[jnp.ndarray] = [nn.Conv(self.channels, (k, k))(x) for k in self.kernel_sizes]
        pooled = nn.max_pool(x, (3, 3), strides=(1, 1), padding="SAME")
        outs.append(nn.Conv(self.channels, (1, 1), name="pool_proj")(pooled))
        return nn.relu(jnp.concatenate(outs, axis=-1))


class TableInCall(nn.Module):
    """A dict of layers in a compact method, gone through in comprehensions."""

    @nn.compact
    def __call__(self, x):
        heads = {"policy": nn.Dense(3), "value": nn.Dense(1)}
        outputs = {name: head(x) for name, head in heads.items()}
        return nn.Dense(2)(jnp.concatenate([*outputs.values()], axis=-1))


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
IMAGES = jnp.sin(jnp.arange(2 * 6 * 6 * 3.0)).reshape(2, 6, 6, 3)
GATED = Build("GLU", 4)

EXAMPLES = [
    Example(Build("HeadDict", {"policy": 3, "value": 1}), X),
    Example(Build("NestedContainers"), X),
    Example(GATED, X),
    Example(
        Build(
            "GivenHeads",
            Build("flax.linen.Dense", 5),
            {"a": Build("flax.linen.Dense", 2), "b": GATED},
        ),
        X,
    ),
    Example(Build("MultiModal", ("image", "text"), 4), {"image": X, "text": X[:, :2]}),
    Example(Build("ParallelBranches", (1, 3), 4), IMAGES),
    Example(Build("TableInCall"), X),
]
