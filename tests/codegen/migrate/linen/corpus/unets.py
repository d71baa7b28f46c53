"""U-Nets: the way up gets the arrays of the way down, by their places, by `zip` and by `pop`."""

from collections.abc import Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp


class ConvBlock(nn.Module):
    """A convolution and its norm."""

    features: int

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.GroupNorm(2)(nn.Conv(self.features, (3, 3))(x)))


class Encoder(nn.Module):
    """The way down returns a list."""

    features: Sequence[int]

    @nn.compact
    def __call__(self, x):
        skips = []
        for f in self.features:
            x = ConvBlock(f)(x)
            skips.append(x)
            x = nn.max_pool(x, (2, 2), (2, 2))
        return x, skips


class Decoder(nn.Module):
    """The way up takes it, last first."""

    features: Sequence[int]

    @nn.compact
    def __call__(self, x, skips):
        for f, skip in zip(self.features, reversed(skips)):
            x = nn.ConvTranspose(f, (2, 2), (2, 2))(x)
            x = ConvBlock(f)(jnp.concatenate([x, skip], axis=-1))
        return x


class Zipped(nn.Module):
    """Lists of `setup`; the submodules and the arrays go together."""

    channels: Sequence[int] = (4, 6)

    def setup(self):
        self.down_blocks = [ConvBlock(c) for c in self.channels]
        self.mid = ConvBlock(self.channels[-1])
        self.up_blocks = [ConvBlock(c) for c in reversed(self.channels)]
        self.out = nn.Conv(1, (1, 1))

    def __call__(self, x):
        skips = []
        for block in self.down_blocks:
            x = block(x)
            skips.append(x)
            x = nn.avg_pool(x, (2, 2), (2, 2))
        x = self.mid(x)
        for block, skip in zip(self.up_blocks, skips[::-1]):
            b, h, w, c = x.shape
            x = jax.image.resize(x, (b, h * 2, w * 2, c), "nearest")
            x = block(jnp.concatenate([x, skip], axis=-1))
        return self.out(x)


class BeginsWithInput(nn.Module):
    """The input is in the list, too."""

    widths: Sequence[int] = (4, 6)

    def setup(self):
        downs, ups = [], []
        for width in self.widths:
            downs.append(nn.Dense(width))
        for width in reversed(self.widths):
            ups.append(nn.Dense(width))
        self.downs = downs
        self.ups = ups

    def __call__(self, x):
        hs = [x]
        for down in self.downs:
            x = nn.relu(down(x))
            hs.append(x)
        for up in self.ups:
            x = nn.relu(up(jnp.concatenate([x, hs.pop()], axis=-1)))
        return x


class GrowsLater(nn.Module):
    """The list gets more after the loop over it."""

    widths: Sequence[int] = (4, 6)

    def setup(self):
        self.downs = [nn.Dense(width) for width in self.widths]
        self.laterals = [nn.Dense(3) for _ in self.widths]
        self.first = nn.Dense(3)
        self.head = nn.Dense(2)

    def __call__(self, x):
        y = self.first(x)
        features = []
        for down in self.downs:
            x = down(x)
            features.append(x)
        for lateral, feature in zip(self.laterals, features):
            y = y + lateral(feature)
        features.append(jnp.concatenate([x, y], axis=-1))
        return self.head(features[-1])


class DownBlock(nn.Module):
    """A tuple of what each layer returns."""

    width: int
    layers: int = 2

    @nn.compact
    def __call__(self, x):
        outs = ()
        for _ in range(self.layers):
            x = nn.Dense(self.width)(x)
            outs += (x,)
        return x, outs


class UpBlock(nn.Module):
    """It takes the last arrays of a tuple."""

    width: int
    layers: int = 2

    def setup(self):
        self.parts = [nn.Dense(self.width) for _ in range(self.layers)]

    def __call__(self, x, skips):
        for part in self.parts:
            skip = skips[-1]
            skips = skips[:-1]
            x = part(jnp.concatenate([x, skip], axis=-1))
        return x


class ByPlace(nn.Module):
    """Loops over places of the submodules; two lists are of one length."""

    widths: Sequence[int] = (4, 6)

    def setup(self):
        self.downs = [nn.Dense(self.widths[i]) for i in range(len(self.widths))]
        self.left = [nn.Dense(self.widths[i]) for i in range(len(self.widths))]
        self.right = [nn.Dense(self.widths[i] + 1) for i in range(len(self.widths))]
        self.ups = [nn.Dense(width) for width in reversed(self.widths)]

    def __call__(self, x):
        skips = []
        for i in range(len(self.widths)):
            x = self.downs[i](x)
            skips.append(x)
        y = x
        for i in range(len(self.widths)):
            x = self.left[i](x)
            y = self.right[i](y)
        x = x + y[..., :-1]
        for i in range(len(self.widths)):
            x = self.ups[i](jnp.concatenate([x, skips[-1 - i]], axis=-1))
        return x
