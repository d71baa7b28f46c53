"""Activations that a text names, which modules give on to their submodules."""

from collections.abc import Callable, Sequence

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


def activation_named(name: str) -> Callable:
    known = {"relu": nn.relu, "tanh": jnp.tanh, "none": lambda x: x}
    if name not in known:
        raise ValueError(name)
    return known[name]


class Trunk(nn.Module):
    """The layers before the heads; the last one may be left out."""

    widths: Sequence[int]
    out: int | None = None
    activation: str | Callable = "relu"

    @nn.compact
    def __call__(self, x):
        if isinstance(self.activation, str):
            function = activation_named(self.activation)
        else:
            function = self.activation
        for width in self.widths:
            x = function(nn.Dense(width)(x))
        if self.out is not None:
            x = nn.Dense(self.out)(x)
        return x


class TwoHeads(nn.Module):
    widths: Sequence[int] = (4, 3)
    act: str = "tanh"

    @nn.compact
    def __call__(self, x):
        x = Trunk(self.widths, activation=self.act)(x)
        return nn.Dense(2)(x), nn.Dense(1)(x)


class ExtractorBefore(nn.Module):
    """What a field computes need not keep the shape, whatever is in its name."""

    extractor: Callable

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(self.extractor(x))


X = jnp.sin(jnp.arange(10.0)).reshape(2, 5)

EXAMPLES = [
    Example(Build("Trunk", (4, 3)), X),
    Example(Build("Trunk", (4,), 2, "none"), X),
    Example(Build("Trunk", (4,), 2, jnp.sin), X),
    Example(Build("TwoHeads"), X),
    Example(Build("TwoHeads", (3,), "relu"), X),
    Example(Build("TwoHeads", (), "none"), X),
    Example(Build("ExtractorBefore", jnp.tanh), X),
]
