"""Loops that take one submodule in each iteration, with others before and behind them."""

from collections.abc import Sequence

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Enumerated(nn.Module):
    widths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for i, width in enumerate(self.widths):
            x = nn.Dense(width)(x)
            x = nn.LayerNorm()(x)
            if i < len(self.widths) - 1:
                x = nn.relu(x)
        return x


class EnumeratedPairs(nn.Module):
    widths: Sequence[int]
    scales: Sequence[float]

    @nn.compact
    def __call__(self, x):
        for i, (width, scale) in enumerate(zip(self.widths, self.scales)):
            x = (scale + i) * nn.Dense(width)(x)
        return x


class EitherSide(nn.Module):
    widths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for i, width in enumerate(self.widths):
            if i != len(self.widths) - 1:
                x = nn.relu(nn.Dense(width)(x))
            else:
                x = nn.Dense(width, use_bias=False)(x)
        return x


class Chosen(nn.Module):
    widths: Sequence[int]
    is_deep: bool = True

    @nn.compact
    def __call__(self, x):
        if self.is_deep:
            for width in self.widths:
                x = nn.Dense(width)(x)
        return x


class Ensemble(nn.Module):
    members: int

    @nn.compact
    def __call__(self, x):
        outputs = []
        for _ in range(self.members):
            outputs.append(Enumerated((4, 2))(x))
        return jnp.stack(outputs)


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


X = jnp.arange(10.0).reshape(2, 5) / 7
W = (6, 4, 8)

EXAMPLES = [
    Example(Build("Enumerated", W), X),
    Example(Build("EnumeratedPairs", W, (1.0, 2.0, 0.5)), X),
    Example(Build("EitherSide", W), X),
    Example(Build("Chosen", W), X),
    Example(Build("Ensemble", 2), X),
    Example(Build("Compact", (4, 6, 3)), X),
    Example(Build("Numbered", (4, 6, 3)), X),
    Example(Build("Sometimes", (4, 6, 3)), X),
    Example(Build("SameAgain"), X),
]
