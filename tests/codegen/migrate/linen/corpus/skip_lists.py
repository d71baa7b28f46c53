"""Lists of arrays that loops fill and empty: skip connections."""

from typing import Sequence

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Popped(nn.Module):
    """The way up takes what the way down left, last first."""

    widths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        downs = []
        for width in self.widths:
            x = nn.relu(nn.Dense(width)(x))
            downs.append(x)
        x = nn.Dense(9)(x)
        for width in reversed(self.widths):
            x = jnp.concatenate([x, downs.pop()], axis=-1)
            x = nn.Dense(width)(x)
        return nn.Dense(2)(x)


class Zipped(nn.Module):
    """A loop over the list itself, backwards and forwards."""

    widths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        skips = []
        for width in self.widths:
            x = nn.Dense(width)(x)
            skips.append(x)
            x = nn.Dense(width + 1)(x)
        for width, skip in zip(reversed(self.widths), reversed(skips)):
            x = nn.Dense(width)(jnp.concatenate([x, skip], -1))
        for k, (width, skip) in enumerate(zip(self.widths, skips)):
            x = nn.Dense(width + k)(jnp.concatenate([x, skip], -1))
        return nn.Dense(2)(x)


class DenselyJoined(nn.Module):
    """Each layer gets all arrays before it."""

    depth: int
    growth: int

    @nn.compact
    def __call__(self, x):
        features = [x]
        for _ in range(self.depth):
            y = nn.Dense(self.growth)(jnp.concatenate(features, axis=-1))
            features.append(y)
        return nn.Dense(2)(jnp.concatenate(features, axis=-1))


class ByIndex(nn.Module):
    """Items by places that are counted from the end."""

    widths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        skips = []
        for width in self.widths:
            x = nn.Dense(width)(x)
            skips.append(x)
        for k in range(len(self.widths)):
            x = nn.Dense(self.widths[k] + 1)(jnp.concatenate([x, skips[-(k + 1)]], -1))
        return nn.Dense(2)(x)


class Literal(nn.Module):
    """A list of three arrays."""

    widths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        a = nn.Dense(3)(x)
        b = nn.Dense(4)(a)
        c = nn.Dense(5)(b)
        skips = [a, b, c]
        for width in self.widths:
            x = nn.Dense(width)(jnp.concatenate([x, skips.pop()], axis=-1))
        return nn.Dense(2)(x)


class OnCall(nn.Module):
    """Whether an array is kept, only the call says."""

    widths: Sequence[int]

    @nn.compact
    def __call__(self, x, keep: bool = True):
        skips = [x]
        for width in self.widths:
            x = nn.Dense(width)(x)
            if keep:
                skips.append(x)
        y = skips.pop()
        return nn.Dense(2)(jnp.concatenate([x, y], -1))


class Handed(nn.Module):
    """Another method takes arrays from the list."""

    widths: Sequence[int]

    def taken(self, values):
        return values.pop()

    @nn.compact
    def __call__(self, x):
        skips = [x]
        for width in self.widths:
            x = nn.Dense(width)(x)
            skips.append(x)
        x = nn.Dense(3)(self.taken(skips))
        return nn.Dense(2)(jnp.concatenate([x, skips.pop()], -1))


class PlusList(nn.Module):
    """Arrays are added with `+=` and taken from the front."""

    widths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        skips = []
        for width in self.widths:
            x = nn.Dense(width)(x)
            skips += [x]
        for width in self.widths:
            skip = skips.pop(0)
            x = nn.Dense(width)(jnp.concatenate([x, skip], -1))
        return nn.Dense(2)(x)


X = jnp.arange(10.0).reshape(2, 5) / 7
W = (6, 4, 8)
_OF_WIDTHS = ("Popped", "Zipped", "ByIndex", "Literal", "PlusList", "Handed")

EXAMPLES = [
    *(Example(Build(name, widths=W), X) for name in _OF_WIDTHS),
    Example(Build("DenselyJoined", 3, 4), X),
    Example(Build("OnCall", W), X, True),
]
