"""Staged vision models, own convolutions, pooling in bins, ranks that code asks for."""

import math
from collections.abc import Iterable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

LAYOUT = ("NHWC", "HWIO", "NHWC")


class ChannelWise(nn.Module):
    """A convolution of its own for each channel, whose kernel size a field says."""

    window: tuple[int, ...] = (3, 3)
    factor: int = 1
    with_bias: bool = True

    @nn.compact
    def __call__(self, images):
        width = self.factor * images.shape[-1]
        kernel = self.param("kernel", nn.initializers.normal(0.1), self.window + (1, width))
        made = jax.lax.conv_general_dilated(
            images, kernel, (1, 1), "SAME", (1, 1), (1, 1), LAYOUT, images.shape[-1]
        )
        if self.with_bias:
            made = made + self.param("bias", nn.initializers.normal(0.1), (width,))
        return made


class ChannelsThenPoints(nn.Module):
    """Channel by channel, then point by point: what comes between depends on both fields."""

    features: int
    window: tuple[int, ...]
    factor: int = 2

    @nn.compact
    def __call__(self, images):
        each = ChannelWise(window=self.window, factor=self.factor)
        points = nn.Conv(self.features, kernel_size=(1, 1))
        return points(each(images))


class OwnConvolution(nn.Module):
    """A kernel whose shape unpacks a field, and layouts from `conv_dimension_numbers`."""

    window: Sequence[int]
    features: int

    @nn.compact
    def __call__(self, images):
        shape = (*self.window, images.shape[-1], self.features)
        kernel = self.param("kernel", nn.initializers.normal(0.1), shape)
        numbers = jax.lax.conv_dimension_numbers(images.shape, kernel.shape, LAYOUT)
        made = jax.lax.conv_general_dilated(
            images, kernel, (2, 2), "VALID", dimension_numbers=numbers
        )
        return nn.Dense(2)(made)


class SquareTable(nn.Module):
    """A table with one entry for each row of a square image."""

    @nn.compact
    def __call__(self, tokens):
        batch, count, width = tokens.shape
        side = int(count**0.5)
        image = tokens.reshape(batch, side, side, width)
        table = self.param("table", nn.initializers.normal(0.1), (side, 1, width))
        rows = jnp.swapaxes(image + table, -1, -2)
        return nn.Dense(int(math.sqrt(count)) + 1)(rows)


class BinnedPool(nn.Module):
    """The mean over bins, as many as a number or a pair says."""

    bins: Iterable | int

    @nn.compact
    def __call__(self, images):
        if isinstance(self.bins, (list, tuple)):
            rows, columns = self.bins[0], self.bins[1]
        else:
            rows = columns = self.bins
        images = jnp.stack(jnp.split(images, rows, axis=1), axis=1)
        images = jnp.stack(jnp.split(images, columns, axis=3), axis=3)
        return jnp.mean(images, axis=[2, 4])


class PooledTwice(nn.Module):
    """Bins by a number and by a pair."""

    @nn.compact
    def __call__(self, images):
        batch, height, width, channels = images.shape
        images = nn.Dense(3)(BinnedPool(4)(images))
        return nn.Dense(2)(BinnedPool((2, 2))(images))


class Stage(nn.Module):
    """A residual convolution, scaled."""

    width: int
    rate: float

    @nn.compact
    def __call__(self, images):
        made = nn.Conv(self.width, (5, 5), 1, padding=((2, 2), (2, 2)))(images)
        return images + self.rate * made


class StagedPyramid(nn.Module):
    """Stages with blocks each, as images and as tokens; a position runs through a list."""

    widths: Sequence[int] = (4, 6)
    depths: Sequence[int] = (1, 2)

    @nn.compact
    def __call__(self, images):
        rates = [0.1 * (k + 1) for k in range(sum(self.depths))]
        position = 0
        x = images
        for i in range(len(self.depths)):
            patch = 4 if i == 0 else 2
            x = nn.Conv(self.widths[i], (patch, patch), patch, name=f"embed_{i}")(x)
            batch, height, width, channels = x.shape
            for j in range(self.depths[i]):
                x = Stage(self.widths[i], rates[position + j], name=f"stage_{i}_{j}")(x)
            position += self.depths[i]
            x = x.reshape(x.shape[0], -1, x.shape[-1])
            x = nn.LayerNorm(name=f"norm_{i}")(x)
            if i != len(self.depths) - 1:
                x = x.reshape(batch, height, width, -1)
        return nn.Dense(3, name="head")(jnp.mean(x, axis=1))


class RunningPosition(nn.Module):
    """What is read from a list at a place that runs from one iteration to the next."""

    depths: Sequence[int] = (1, 2)

    @nn.compact
    def __call__(self, x):
        scales = [1.0, 2.0, 4.0, 8.0]
        at = 0
        for depth in self.depths:
            x = nn.Dense(3)(x) * scales[at]
            x = nn.LayerNorm(epsilon=scales[at + 1])(x)
            at += depth
        return x


class MaybeSingle(nn.Module):
    """One sequence, or a batch of such: where there is no batch it gets an axis."""

    features: int

    @nn.compact
    def __call__(self, x):
        if x.ndim == 2:
            x = jnp.expand_dims(x, axis=0)
        batch, count, width = x.shape
        shape = (count * width, count * self.features)
        mixed = x.reshape((batch, count * width)) @ self.param(
            "mixing", nn.initializers.normal(0.1), shape
        )
        return nn.Dense(3)(mixed)


class SomeRank(nn.Module):
    """A question about the rank says nothing behind the branch."""

    @nn.compact
    def __call__(self, x):
        if x.ndim == 2:
            made = nn.relu(x)
        else:
            made = nn.tanh(x)
        return nn.Dense(x.shape[1])(made)


class EqualDtypes(nn.Module):
    """Arrays of one dtype, by the function that layers of Linen use."""

    features: int

    @nn.compact
    def __call__(self, x):
        kernel = self.param("kernel", nn.initializers.normal(0.1), (x.shape[-1], self.features))
        bias = self.param("bias", nn.initializers.normal(0.1), (self.features,))
        x, kernel, bias = nn.dtypes.promote_dtype(x, kernel, bias, dtype=jnp.float32)
        return nn.Dense(2)(x @ kernel + bias)


class WidthsByLevel(nn.Module):
    """Widths that a function of the method computes with numpy."""

    base: int = 32
    decay: float = 1.0
    most: int = 6
    resolution: int = 8

    @nn.compact
    def __call__(self, x):
        levels = int(np.log2(self.resolution))

        def width(level):
            return int(np.clip(int(self.base / (2.0 ** (level * self.decay))), 1, self.most))

        x = nn.Dense(width(2))(x)
        for level in range(levels, 1, -1):
            x = nn.Dense(width(level), name=f"level_{level}")(x)
        positions = np.arange(self.base // 4) / np.sqrt(self.base)
        return nn.Dense(int(np.sqrt(self.base)))(x[..., None] * positions)


IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)
WIDE_IMAGES = jnp.sin(jnp.arange(2 * 8 * 12 * 3.0)).reshape(2, 8, 12, 3)
TOKENS = jnp.cos(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
FLAT = jnp.sin(jnp.arange(4 * 6.0)).reshape(4, 6)

EXAMPLES = [
    Example(Build("ChannelWise"), IMAGES),
    Example(Build("ChannelWise", (2, 3), factor=2, with_bias=False), IMAGES),
    Example(Build("ChannelsThenPoints", 5, (3, 3)), IMAGES),
    Example(Build("ChannelsThenPoints", 5, (1, 2), factor=1), IMAGES),
    Example(Build("OwnConvolution", (3, 3), 5), IMAGES),
    Example(Build("SquareTable"), TOKENS),
    Example(Build("BinnedPool", 2), IMAGES),
    Example(Build("BinnedPool", (2, 4)), IMAGES),
    Example(Build("PooledTwice"), IMAGES),
    Example(Build("Stage", 3, 0.5), IMAGES),
    Example(Build("StagedPyramid"), IMAGES),
    Example(Build("StagedPyramid", (3, 5, 4), (2, 1, 1)), jnp.tile(WIDE_IMAGES, (1, 2, 2, 1))),
    Example(Build("RunningPosition"), TOKENS),
    Example(Build("RunningPosition", (2, 1)), TOKENS),
    Example(Build("MaybeSingle", 2), TOKENS),
    Example(Build("MaybeSingle", 2), FLAT),
    Example(Build("SomeRank"), FLAT),
    Example(Build("SomeRank"), TOKENS),
    Example(Build("EqualDtypes", 5), TOKENS),
    Example(Build("WidthsByLevel"), TOKENS),
    Example(Build("WidthsByLevel", 40, 0.5, 9, 16), TOKENS),
]
