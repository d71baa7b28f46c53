"""Modules in lists, dicts and tuples, and in Sequential."""

from typing import Any, Dict, List, NamedTuple, Sequence

import jax.numpy as jnp
from flax import linen as nn


class Pair(NamedTuple):
    left: Any
    right: Any


class SetupList(nn.Module):
    features: Sequence[int]

    def setup(self):
        self.layers = [nn.Dense(feat) for feat in self.features]

    def __call__(self, inputs):
        x = inputs
        for i, lyr in enumerate(self.layers):
            x = lyr(x)
            if i != len(self.layers) - 1:
                x = nn.relu(x)
        return x


class AppendedList(nn.Module):
    """Layers and functions in one list that grows."""

    widths: Sequence[int]
    norm: bool = False

    def setup(self):
        layers = []
        for w in self.widths:
            layers.append(nn.Dense(w))
            if self.norm:
                layers.append(nn.LayerNorm())
            layers.append(nn.relu)
        layers.append(nn.Dense(1))
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


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


class SequentialCompact(nn.Module):
    """Sequential inside compact: the layers belong to this module."""

    hidden: int

    @nn.compact
    def __call__(self, x):
        first = nn.Dense(5)(x)
        net = nn.Sequential(
            [
                nn.Dense(self.hidden),
                nn.relu,
                nn.LayerNorm(),
                nn.Dense(self.hidden),
            ]
        )
        return nn.Dense(2)(net(first))


class SequentialSetup(nn.Module):
    hidden: int = 4

    def setup(self):
        self.net = nn.Sequential(
            [
                nn.Conv(self.hidden, (3, 3), (2, 2)),
                nn.silu,
                nn.Conv(self.hidden + 1, (3, 3)),
                lambda x: x.mean(axis=(1, 2)),
                nn.Dense(3),
            ]
        )
        self.classifier = nn.Sequential([nn.Sequential([nn.Dense(6), nn.tanh]), nn.Dense(2)])

    def __call__(self, x):
        return self.classifier(self.net(x))


class SequentialOfOwn(nn.Module):
    """Unpacks a comprehension of its own modules."""

    depth: int
    width: int

    @nn.compact
    def __call__(self, x):
        blocks = [GLU(self.width) for _ in range(self.depth)]
        return nn.Sequential([*blocks, nn.Dense(2)])(x)


class GLU(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        value, gate = jnp.split(nn.Dense(2 * self.width)(x), 2, axis=-1)
        return value * nn.sigmoid(gate)


class GivenLayers(nn.Module):
    """The list of layers is a field."""

    layers: Sequence[Any]
    skip: bool = False

    @nn.compact
    def __call__(self, x):
        y = x
        for layer in self.layers:
            y = layer(y)
        return jnp.concatenate([x, y], axis=-1) if self.skip else y


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


class TaskHeads(nn.Module):
    """Dict comprehension in compact."""

    tasks: Sequence[str]
    classes: int

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(5)(x))
        heads = {task: nn.Dense(self.classes, name=f"head_{task}") for task in self.tasks}
        return {task: heads[task](x) for task in self.tasks}


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
