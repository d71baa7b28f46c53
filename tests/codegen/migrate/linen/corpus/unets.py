"""U-Nets: the way up gets the arrays of the way down, by their places, by `zip` and by `pop`."""

from collections.abc import Sequence

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


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


X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)

EXAMPLES = [
    Example(Build("BeginsWithInput", (4, 6, 3)), X),
    Example(Build("GrowsLater", (4, 6, 3)), X),
    Example(Build("ByPlace", (4, 6, 3)), X),
]
