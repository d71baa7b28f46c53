"""Linen modules as image models have them: lists of blocks that `setup` fills, optional layers."""

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class Unit(nn.Module):
    """A convolution with a projection where the widths differ."""

    width_in: int
    width: int

    def setup(self):
        self.conv = nn.Conv(self.width, (3, 3))
        self.short = None
        if self.width_in != self.width:
            self.short = nn.Conv(self.width, (1, 1))

    def __call__(self, x):
        y = nn.relu(self.conv(x))
        if self.short is not None:
            x = self.short(x)
        return x + y


class Mix(nn.Module):
    """A layer between the units."""

    width: int

    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(self.width, name="proj")(nn.LayerNorm()(x))


class Stage(nn.Module):
    """Fills two lists in one loop, which a call goes over together."""

    width_in: int
    width: int
    depth: int = 2
    shrinks: bool = True

    def setup(self):
        units = []
        mixes = []
        for i in range(self.depth):
            before = self.width_in if i == 0 else self.width
            unit = Unit(width_in=before, width=self.width)
            units.append(unit)
            mixes.append(Mix(self.width))
        self.units = units
        self.mixes = mixes
        if self.shrinks:
            self.down = nn.Conv(self.width, (3, 3), strides=(2, 2))

    def __call__(self, x):
        seen = ()
        for unit, mix in zip(self.units, self.mixes, strict=True):
            x = mix(unit(x))
            seen += (x,)
        if self.shrinks:
            x = self.down(x)
        return x, seen


_IMAGE = jnp.linspace(-1.0, 1.0, 2 * 8 * 8 * 3).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("Unit", 3, 4), _IMAGE, name="projected"),
    Example(Build("Unit", 3, 3), _IMAGE, name="plain"),
    Example(Build("Stage", 3, 4), _IMAGE, name="stage"),
    Example(Build("Stage", 3, 5, depth=3, shrinks=False), _IMAGE, name="deep stage"),
]
