"""Layers in loops with widths that run along."""

import itertools
from typing import Sequence, Tuple

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class FeaturePyramid(nn.Module):
    """Lateral layers from a list of maps, resized to one another."""

    channels: Sequence[int]
    out: int

    @nn.compact
    def __call__(self, x):
        maps = []
        for c in self.channels:
            x = nn.relu(nn.Conv(c, (3, 3), strides=(2, 2))(x))
            maps.append(x)
        laterals = [nn.Conv(self.out, (1, 1), name=f"lateral{i}")(m) for i, m in enumerate(maps)]
        for i in range(len(laterals) - 1, 0, -1):
            upsampled = jax.image.resize(laterals[i], laterals[i - 1].shape, "bilinear")
            laterals[i - 1] = laterals[i - 1] + upsampled
        return [nn.Conv(self.out, (3, 3), name=f"smooth{i}")(m) for i, m in enumerate(laterals)]


class ChannelBlock(nn.Module):
    in_channels: int
    out_channels: int

    def setup(self):
        self.norm = nn.GroupNorm(1)
        self.conv = nn.Conv(self.out_channels, (3, 3))
        if self.in_channels != self.out_channels:
            self.shortcut = nn.Conv(self.out_channels, (1, 1), use_bias=False)

    def __call__(self, x):
        residual = x
        x = self.conv(nn.swish(self.norm(x)))
        if self.in_channels != self.out_channels:
            residual = self.shortcut(residual)
        return x + residual


class SetupUNet(nn.Module):
    """Blocks in lists; the widths of the way up come from those of the way down."""

    block_out_channels: Tuple[int, ...] = (3, 4)
    layers_per_block: int = 1

    def setup(self):
        channels = self.block_out_channels
        self.conv_in = nn.Conv(channels[0], (3, 3), padding=((1, 1), (1, 1)))
        down = []
        output = channels[0]
        for i, channel in enumerate(channels):
            input_channel = output
            output = channel
            down.append(DownBlock(input_channel, output, final=i == len(channels) - 1))
        self.down_blocks = down
        self.mid = ChannelBlock(channels[-1], channels[-1])
        up = []
        reversed_channels = list(reversed(channels))
        output = reversed_channels[0]
        for i, channel in enumerate(reversed_channels):
            previous, output = output, channel
            up.append(UpBlock(previous, output, final=i == len(channels) - 1))
        self.up_blocks = up
        self.conv_out = nn.Conv(1, (3, 3))

    def __call__(self, sample):
        sample = self.conv_in(sample)
        skips = (sample,)
        for block in self.down_blocks:
            sample, states = block(sample)
            skips += states
        sample = self.mid(sample)
        for block in self.up_blocks:
            sample = block(sample, skips[-1:])
            skips = skips[:-1]
        return self.conv_out(sample)


class DownBlock(nn.Module):
    in_channels: int
    out_channels: int
    final: bool = False

    def setup(self):
        self.resnets = [ChannelBlock(self.in_channels, self.out_channels)]
        if not self.final:
            self.downsample = nn.Conv(self.out_channels, (3, 3), strides=(2, 2))

    def __call__(self, x):
        states = ()
        for resnet in self.resnets:
            x = resnet(x)
            states += (x,)
        if not self.final:
            x = self.downsample(x)
        return x, states


class UpBlock(nn.Module):
    in_channels: int
    out_channels: int
    final: bool = False

    def setup(self):
        self.merge = nn.Conv(self.out_channels, (1, 1))
        if not self.final:
            self.upsample = nn.Conv(self.out_channels, (3, 3))

    def __call__(self, x, skips):
        x = self.merge(jnp.concatenate((x, skips[-1]), axis=-1))
        if not self.final:
            b, h, w, c = x.shape
            x = self.upsample(jax.image.resize(x, (b, 2 * h, 2 * w, c), "nearest"))
        return x


class ZippedSettings(nn.Module):
    kernel_sizes: Sequence[int] = (3, 2)
    strides: Sequence[int] = (1, 2)
    features: Sequence[int] = (3, 4)
    dense: Sequence[int] = ()

    @nn.compact
    def __call__(self, x):
        for k, s, f in zip(self.kernel_sizes, self.strides, self.features):
            x = nn.Conv(f, (k, k), (s, s), padding="VALID")(x)
            x = nn.relu(x)
        x = x.reshape((x.shape[0], -1))
        for f in self.dense:
            x = nn.relu(nn.Dense(f)(x))
        return nn.Dense(2)(x)


class WhileLoop(nn.Module):
    """A Python while loop over a width."""

    width: int

    @nn.compact
    def __call__(self, x):
        width = self.width
        while width > 1:
            x = nn.tanh(nn.Dense(width)(x))
            width //= 2
        return x


class PairLoop(nn.Module):
    """zip of a list with itself, product, and an index from the end."""

    sizes: Sequence[int]

    def setup(self):
        self.layers = [
            nn.DenseGeneral(out, kernel_init=nn.initializers.normal(1.0 / size))
            for size, out in zip(self.sizes[:-1], self.sizes[1:])
        ]
        self.grid = [nn.Dense(i + j) for i, j in itertools.product((1, 2), (1, 3))]

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = nn.relu(layer(x))
        x = self.layers[-1](x)
        return x, [cell(x) for cell in self.grid]


class Pyramid(nn.Module):
    """A loop in a loop whose widths depend on both."""

    levels: int

    @nn.compact
    def __call__(self, x):
        outs = []
        for level in range(self.levels):
            y = x
            for step in range(level + 1):
                y = nn.Dense((level + 1) * 2 + step)(y)
            outs.append(y)
        return jnp.concatenate(outs, -1)


class UntilBreak(nn.Module):
    """continue and break in the loop."""

    widths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for i, w in enumerate(self.widths):
            if w == 0:
                continue
            if w < 0:
                break
            x = nn.Dense(w, use_bias=i == 0)(x)
        else:
            x = nn.LayerNorm()(x)
        return x


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("FeaturePyramid", (3, 4), 5), IMAGES),
    Example(Build("ChannelBlock", 3, 4), IMAGES),
    Example(Build("ChannelBlock", 3, 3), IMAGES),
    Example(Build("SetupUNet"), IMAGES),
    Example(Build("DownBlock", 3, 4), IMAGES),
    Example(Build("UpBlock", 3, 4), IMAGES, (IMAGES[..., :2],)),
    Example(Build("ZippedSettings"), IMAGES),
    Example(Build("ZippedSettings", (3,), (2,), (4,), dense=(5, 6)), IMAGES),
    Example(Build("WhileLoop", 8), X),
    Example(Build("PairLoop", (6, 5, 4)), X),
    Example(Build("Pyramid", 3), X),
    Example(Build("UntilBreak", (5, 0, 4)), X),
    Example(Build("UntilBreak", (5, -1, 4)), X),
]
