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


class ChangedSettings(nn.Module):
    bias: bool = True

    @nn.compact
    def __call__(self, x):
        options = {"use_bias": True}
        if not self.bias:
            options["use_bias"] = False
        x = nn.Dense(4, **options)(x)
        more = dict(use_bias=True, features=4)  # noqa: C408 - calls of `dict` are what it is about
        more.update(use_bias=False)
        x = nn.Dense(**more)(x)
        third = {"use_bias": True, "features": 3}
        alias = third
        alias["use_bias"] = False
        width = third.pop("features")
        x = nn.Dense(width, **third)(x)
        fourth = dict(more)
        del fourth["use_bias"]
        fourth.setdefault("features", 9)
        return nn.Dense(**fourth)(x)


class ChangedWidths(nn.Module):
    @nn.compact
    def __call__(self, x):
        widths = [3, 4]
        widths[0] = 7
        widths.extend([2, 5])
        widths.insert(1, 6)
        last = widths.pop(0)
        for width in widths:
            x = nn.Dense(width)(x)
        return nn.Dense(last)(x)


class Forwarded(nn.Module):
    """Arguments that methods pass on."""

    width: int = 4

    def dense(self, *args, **kwargs):
        return nn.Dense(*args, **kwargs)

    def named(self, *sizes, **kwargs):
        kwargs["use_bias"] = False
        return [self.dense(size, **kwargs) for size in sizes]

    @nn.compact
    def __call__(self, x):
        x = self.dense(self.width, use_bias=False)(x)
        first, second = self.named(3, 2, kernel_init=nn.initializers.normal())
        return second(first(x))


X = jnp.sin(jnp.arange(2 * 5.0)).reshape(2, 5)

EXAMPLES = [
    Example(Build("ChangedByCall"), X),
    Example(Build("ChangedByCall"), X, deep=True),
    Example(Build("ChosenWidths", 2), X),
    Example(Build("ChosenWidths", 2, (3, 4)), X),
    Example(Build("ChosenWidths", 2, factors=(1, 2)), X),
    Example(Build("DeeperThanField"), X),
    Example(Build("DeeperThanField", deep=True), X),
    Example(Build("ChangedSettings"), X),
    Example(Build("ChangedSettings", bias=False), X),
    Example(Build("ChangedWidths"), X),
    Example(Build("Forwarded"), X),
]
