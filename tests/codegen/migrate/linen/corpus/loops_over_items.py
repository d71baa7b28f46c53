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


X = jnp.arange(10.0).reshape(2, 5) / 7
W = (6, 4, 8)

EXAMPLES = [
    Example(Build("Enumerated", W), X),
    Example(Build("EnumeratedPairs", W, (1.0, 2.0, 0.5)), X),
    Example(Build("EitherSide", W), X),
    Example(Build("Chosen", W), X),
    Example(Build("Ensemble", 2), X),
]
