"""Lists of submodules that methods go through together."""

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class Compact(nn.Module):
    widths: tuple[int, ...] = (4, 6)

    @nn.compact
    def __call__(self, x):
        denses = [nn.Dense(width) for width in self.widths]
        norms = [nn.LayerNorm() for width in self.widths]
        for dense, norm in zip(denses, norms):
            x = norm(dense(x))
        return x


class Numbered(nn.Module):
    """The norms come first, and are found by the number."""

    widths: tuple[int, ...] = (4, 6)

    def setup(self):
        self.denses = [nn.Dense(self.widths[i]) for i in range(len(self.widths))]
        self.norms = [nn.LayerNorm() for i in range(len(self.widths))]

    def __call__(self, x):
        sums = []
        for i, dense in enumerate(self.denses):
            sums.append(self.norms[i](x).sum())
            x = dense(x)
        return x, sums


class Sometimes(nn.Module):
    widths: tuple[int, ...] = (4, 6)

    def setup(self):
        self.denses = [nn.Dense(width) for width in self.widths]
        self.norms = [nn.LayerNorm() for width in self.widths]

    def __call__(self, x):
        for i, (dense, norm) in enumerate(zip(self.denses, self.norms)):
            x = dense(x)
            if i < len(self.denses) - 1:
                x = nn.relu(norm(x))
        return x


class SameAgain(nn.Module):
    """Each item leaves the size as it is."""

    depth: int = 3

    def setup(self):
        self.denses = [nn.Dense(5) for _ in range(self.depth)]
        self.norms = [nn.LayerNorm() for _ in range(self.depth)]

    def __call__(self, x):
        for i in range(self.depth):
            x = x + self.denses[i](self.norms[i](x))
        return x


X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)

EXAMPLES = [
    Example(Build("Compact", (4, 6, 3)), X),
    Example(Build("Numbered", (4, 6, 3)), X),
    Example(Build("Sometimes", (4, 6, 3)), X),
    Example(Build("SameAgain"), X),
]
