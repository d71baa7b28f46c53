"""Initializers and activations that a field or a branch chooses."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Optional

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class NormedBlock(nn.Module):
    """The class in a field is constructed with an initializer that another field chooses."""

    features: int
    is_last: bool = False
    norm: Optional[Callable[..., Any]] = partial(nn.BatchNorm, momentum=0.9)

    @nn.compact
    def __call__(self, x, train: bool = False):
        x = nn.Dense(self.features, use_bias=not self.norm)(x)
        if self.norm:
            init = nn.initializers.zeros if self.is_last else nn.initializers.ones
            x = self.norm(use_running_average=not train, scale_init=init)(x)
        return x if self.is_last else nn.relu(x)


class ChosenByCall(nn.Module):
    """The call chooses: the constructor cannot know, and a marker says so."""

    @nn.compact
    def __call__(self, x, small: bool = False):
        init = nn.initializers.zeros if small else nn.initializers.ones
        return nn.Dense(3, kernel_init=init)(x)


class ChosenActivation(nn.Module):
    """A chosen function is called, before and after it is one of two more."""

    kind: str = "relu"

    @nn.compact
    def __call__(self, x):
        act = nn.relu if self.kind == "relu" else nn.gelu
        x = act(nn.Dense(4)(x))
        if self.kind == "tanh":
            act = jnp.tanh
        return nn.Dense(2)(act(x))


class SingleImages(nn.Module):
    """The batch axis is added where it is missing."""

    depth: int = 2
    width: int = 4

    @nn.compact
    def __call__(self, x):
        if len(x.shape) < 4:
            x = jnp.expand_dims(x, 0)
            is_batch = False
        else:
            is_batch = True
        for _ in range(self.depth):
            x = nn.relu(nn.Conv(self.width, (3, 3))(x))
            x = nn.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
        x = x.reshape(x.shape[0], -1)
        x = nn.Dense(3)(x)
        return x if is_batch else x.squeeze()


class ScaledBelow(nn.Module):
    """The question adds no axis: any number of them is possible."""

    @nn.compact
    def __call__(self, x):
        if x.ndim <= 2:
            x = 2 * x
        x = x.reshape(x.shape[0], -1)
        return nn.Dense(3)(x)


class NamedInSetup(nn.Module):
    act: str = "gelu"

    def setup(self):
        self.fn = getattr(nn, self.act)
        self.last = {"relu": nn.relu, "tanh": jnp.tanh}["tanh" if self.act == "gelu" else "relu"]
        self.first, self.second = nn.Dense(3), nn.Dense(2)

    def __call__(self, x):
        return self.last(self.second(self.fn(self.first(x))))


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


X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
IMAGES = jnp.linspace(-1.0, 1.0, 2 * 8 * 8 * 3).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("NormedBlock", 4), X),
    Example(Build("NormedBlock", 4, is_last=True), X, train=True, mutable=("batch_stats",)),
    Example(Build("NormedBlock", 4, norm=None), X),
    Example(
        Build("NormedBlock", 4, norm=partial(nn.BatchNorm, momentum=0.5)),
        X,
        train=True,
        mutable=("batch_stats",),
    ),
    Example(Build("ChosenByCall"), X),
    Example(Build("ChosenActivation"), X),
    Example(Build("ChosenActivation", kind="tanh"), X),
    Example(Build("SingleImages"), IMAGES),
    Example(Build("SingleImages", depth=1), IMAGES[0]),
    Example(Build("ScaledBelow"), X),
    Example(Build("ScaledBelow"), IMAGES),
    Example(Build("NamedInSetup"), X),
    Example(Build("NamedInSetup", "relu"), X),
    Example(Build("Trunk", (4, 3)), X),
    Example(Build("Trunk", (4,), 2, "none"), X),
    Example(Build("Trunk", (4,), 2, jnp.sin), X),
    Example(Build("TwoHeads"), X),
    Example(Build("TwoHeads", (3,), "relu"), X),
    Example(Build("TwoHeads", (), "none"), X),
    Example(Build("ExtractorBefore", jnp.tanh), X),
]
