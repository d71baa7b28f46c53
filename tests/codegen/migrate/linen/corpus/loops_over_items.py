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


X = jnp.arange(10.0).reshape(2, 5) / 7
W = (6, 4, 8)

EXAMPLES = [
    Example(Build("Enumerated", W), X),
    Example(Build("EitherSide", W), X),
    Example(Build("Chosen", W), X),
    Example(Build("Ensemble", 2), X),
    Example(Build("Numbered", (4, 6, 3)), X),
]
