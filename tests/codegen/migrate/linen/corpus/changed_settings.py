"""Lists of settings that methods change before they build submodules of them."""

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class ChangedByCall(nn.Module):
    """A call says whether there is one more: that cannot be migrated."""

    widths: tuple[int, ...] = (3, 4)

    @nn.compact
    def __call__(self, x, deep: bool = False):
        widths = list(self.widths)
        if deep:
            widths.append(2)
        for width in widths:
            x = nn.tanh(nn.Dense(width)(x))
        return x


class ChosenWidths(nn.Module):
    """The widths are given, or follow from the input, or there are none."""

    out: int
    widths: tuple[int, ...] | None = None
    factors: tuple[int, ...] | None = None

    @nn.compact
    def __call__(self, x):
        if self.widths is None:
            if self.factors is not None:
                widths = [int(factor * x.shape[-1]) for factor in self.factors]
            else:
                widths = []
        else:
            widths = self.widths
        for width in widths:
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(self.out)(x)


class DeeperThanField(nn.Module):
    """The widths of a field, or others."""

    deep: bool = False
    widths: tuple[int, ...] = (3,)

    @nn.compact
    def __call__(self, x):
        widths = self.widths
        if self.deep:
            widths = (4, 5)
        for k, width in enumerate(widths):
            x = nn.tanh(nn.Dense(width, name=f"layer_{k}")(x))
        return x


X = jnp.sin(jnp.arange(2 * 5.0)).reshape(2, 5)

EXAMPLES = [
    Example(Build("ChangedByCall"), X),
    Example(Build("ChangedByCall"), X, deep=True),
    Example(Build("ChosenWidths", 2), X),
    Example(Build("ChosenWidths", 2, (3, 4)), X),
    Example(Build("ChosenWidths", 2, factors=(1, 2)), X),
    Example(Build("DeeperThanField"), X),
    Example(Build("DeeperThanField", deep=True), X),
]
