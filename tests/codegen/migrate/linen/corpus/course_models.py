"""Habits of courses: layers and functions in one list, tables of numpy, widths in dictionaries."""

from collections.abc import Callable, Sequence
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


class JointProjection(nn.Module):
    width: int
    heads: int

    def setup(self):
        self.joint = nn.Dense(3 * self.width)
        self.out = nn.Dense(self.width)

    def __call__(self, tokens, mask=None):
        batch, length, width = tokens.shape
        joint = self.joint(tokens).reshape(batch, length, self.heads, -1).transpose(0, 2, 1, 3)
        query, key, value = jnp.array_split(joint, 3, axis=-1)
        scores = query @ jnp.swapaxes(key, -1, -2) / jnp.sqrt(query.shape[-1])
        if mask is not None:
            scores = jnp.where(mask, scores, -1e9)
        weights = nn.softmax(scores)
        mixed = (weights @ value).transpose(0, 2, 1, 3).reshape(batch, length, width)
        return self.out(mixed), weights


class ListedBlock(nn.Module):
    """The second half is a list of layers and functions; dropout is told apart by its class."""

    width: int
    heads: int
    rate: float = 0.1

    def setup(self):
        self.attention = JointProjection(self.width, self.heads)
        self.steps = [
            nn.Dense(2 * self.width),
            nn.Dropout(self.rate),
            nn.gelu,
            nn.Dense(self.width),
        ]
        self.before = nn.LayerNorm()
        self.after = nn.LayerNorm()

    def __call__(self, x, mask=None, train=True):
        mixed, _ = self.attention(self.before(x), mask=mask)
        x = y = x + mixed
        for step in self.steps:
            y = step(y, deterministic=not train) if isinstance(step, nn.Dropout) else step(y)
        return self.after(x + y)


class TableOfWaves(nn.Module):
    width: int
    longest: int = 16

    def setup(self):
        table = np.zeros((self.longest, self.width))
        place = np.arange(self.longest)[:, None]
        speed = np.exp(np.arange(0, self.width, 2) * (-np.log(100.0) / self.width))
        table[:, 0::2] = np.sin(place * speed)
        table[:, 1::2] = np.cos(place * speed)
        self.table = jax.device_put(table[None])

    def __call__(self, x):
        return x + self.table[:, : x.shape[1]]


class ListedTransformer(nn.Module):
    width: int
    heads: int
    depth: int
    classes: int

    def setup(self):
        self.entry = nn.Dense(self.width)
        self.waves = TableOfWaves(self.width)
        self.blocks = [ListedBlock(self.width, self.heads) for _ in range(self.depth)]
        self.head = [nn.Dense(self.width), nn.LayerNorm(), nn.relu, nn.Dense(self.classes)]

    def __call__(self, x, train=True):
        x = self.waves(self.entry(x))
        for block in self.blocks:
            x = block(x, train=train)
        for step in self.head:
            x = step(x)
        return x

    def weights_of_blocks(self, x, train=True):
        found = []
        x = self.waves(self.entry(x))
        for block in self.blocks:
            found.append(block.attention(x)[1])
            x = block(x, train=train)
        return found


class Mixture(nn.Module):
    """Branches of convolutions; their widths are in dictionaries."""

    inner: dict[str, int]
    outer: dict[str, int]
    act: Callable

    @nn.compact
    def __call__(self, x, train=True):
        narrow = nn.Conv(self.outer["narrow"], (1, 1))(x)
        narrow = nn.BatchNorm()(narrow, use_running_average=not train)
        wide = self.act(nn.Conv(self.inner["wide"], (1, 1))(x))
        wide = nn.Conv(self.outer["wide"], (3, 3), use_bias=False)(wide)
        wide = nn.BatchNorm()(wide, use_running_average=not train)
        pooled = nn.max_pool(x, (3, 3), strides=(1, 1), padding="SAME")
        pooled = nn.Conv(self.outer["pooled"], (1, 1))(pooled)
        return self.act(jnp.concatenate([narrow, wide, pooled], axis=-1))


class Mixtures(nn.Module):
    act: Callable = nn.relu

    @nn.compact
    def __call__(self, x, train=True):
        stages = [
            Mixture({"wide": 3}, {"narrow": 2, "wide": 4, "pooled": 1}, self.act),
            lambda images: nn.max_pool(images, (2, 2), strides=(2, 2)),
            Mixture({"wide": 2}, {"narrow": 1, "wide": 3, "pooled": 2}, self.act),
        ]
        for stage in stages:
            x = stage(x, train=train) if isinstance(stage, Mixture) else stage(x)
        return nn.Dense(3)(x.mean(axis=(1, 2)))


class PlainUnit(nn.Module):
    act: Callable
    width: int
    halves: bool = False

    @nn.compact
    def __call__(self, x, train=True):
        strides = (2, 2) if self.halves else (1, 1)
        y = nn.Conv(self.width, (3, 3), strides=strides, use_bias=False)(x)
        y = self.act(nn.BatchNorm()(y, use_running_average=not train))
        y = nn.Conv(self.width, (3, 3))(y)
        if self.halves:
            x = nn.Conv(self.width, (1, 1), strides=(2, 2))(x)
        return self.act(x + y)


class EarlyUnit(PlainUnit):
    @nn.compact
    def __call__(self, x, train=True):
        y = self.act(nn.BatchNorm()(x, use_running_average=not train))
        y = nn.Conv(self.width, (3, 3), strides=(1, 1) if not self.halves else (2, 2))(y)
        if self.halves:
            x = nn.Conv(self.width, (1, 1), strides=(2, 2), use_bias=False)(x)
        return x + y


class UnitNet(nn.Module):
    """Nothing here gives the class of the units but a comparison."""

    unit: Any
    counts: Sequence[int] = (1, 2)
    widths: Sequence[int] = (4, 6)

    @nn.compact
    def __call__(self, x, train=True):
        x = nn.Conv(self.widths[0], (3, 3))(x)
        if self.unit == PlainUnit:
            x = nn.relu(nn.BatchNorm()(x, use_running_average=not train))
        for stage, count in enumerate(self.counts):
            for place in range(count):
                halves = place == 0 and stage > 0
                x = self.unit(act=nn.relu, width=self.widths[stage], halves=halves)(x, train=train)
        return nn.Dense(3)(x.mean(axis=(1, 2)))


class Shift(nn.Module):
    """Half of the values change by what a network makes of the others."""

    network: nn.Module
    chosen: Any
    channels: int

    def setup(self):
        self.limit = self.param("limit", nn.initializers.zeros, (self.channels,))

    def __call__(self, z, total, reverse=False):
        scale, move = jnp.split(self.network(z * self.chosen), 2, axis=-1)
        bound = jnp.exp(self.limit).reshape(1, 1, 1, -1)
        scale = nn.tanh(scale / bound) * bound * (1 - self.chosen)
        move = move * (1 - self.chosen)
        if reverse:
            return z * jnp.exp(-scale) - move, total - scale.sum(axis=(1, 2, 3))
        return (z + move) * jnp.exp(scale), total + scale.sum(axis=(1, 2, 3))


class ShiftNet(nn.Module):
    hidden: int
    out: int

    def setup(self):
        steps = [nn.Conv(self.hidden, (3, 3)), nn.LayerNorm(), nn.elu, nn.Conv(self.out, (3, 3))]
        self.steps = nn.Sequential(steps)

    def __call__(self, x):
        return self.steps(x)


def wave(*shape):
    return jnp.sin(jnp.arange(np.prod(shape), dtype=jnp.float32) + 1.0).reshape(shape)


IMAGES = wave(2, 8, 8, 3)
STATISTICS = ("batch_stats",)
EVEN = (np.indices((4, 4)).sum(axis=0) % 2).astype(np.float32)[None, :, :, None]


def shift(chosen):
    return Build("Shift", network=Build("ShiftNet", 4, 6), chosen=chosen, channels=3)


EXAMPLES = [
    Example(Build("TableOfWaves", 6), wave(2, 5, 6)),
    Example(Build("ShiftNet", 4, 6), wave(2, 4, 4, 3)),
    Example(
        Build("Mixture", {"wide": 3}, {"narrow": 2, "wide": 4, "pooled": 1}, nn.relu),
        IMAGES,
        train=True,
        mutable=STATISTICS,
    ),
    Example(Build("PlainUnit", nn.relu, 4, halves=True), IMAGES, train=True, mutable=STATISTICS),
    Example(Build("EarlyUnit", nn.relu, 3), IMAGES, train=True, mutable=STATISTICS),
    Example(Build("JointProjection", 6, 2), wave(2, 5, 6)),
    Example(Build("ListedBlock", 6, 2), wave(2, 5, 6), train=False),
    Example(Build("ListedTransformer", 8, 2, 2, 3), wave(2, 5, 6), train=False),
    Example(
        Build("ListedTransformer", 8, 2, 2, 3),
        wave(2, 5, 6),
        train=False,
        method="weights_of_blocks",
        name="weights",
    ),
    Example(Build("Mixtures", nn.tanh), IMAGES, train=True, mutable=STATISTICS),
    Example(Build("UnitNet", Build.ref("PlainUnit")), IMAGES, train=True, mutable=STATISTICS),
    Example(Build("UnitNet", Build.ref("EarlyUnit")), IMAGES, train=True, mutable=STATISTICS),
    Example(shift(EVEN), wave(2, 4, 4, 3), jnp.zeros(2)),
]
