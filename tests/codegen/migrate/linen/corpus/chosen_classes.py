"""Classes and functions that a local name has by a condition."""

from collections.abc import Callable
from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class ChosenNorms(nn.Module):
    bn: bool = True
    kind: str = "layer"

    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = partial(nn.BatchNorm, use_running_average=not train) if self.bn else nn.LayerNorm
        x = nn.Dense(4)(x)
        x = norm(bias_init=nn.initializers.normal())(x)
        if self.kind == "layer":
            other = nn.LayerNorm
        elif self.kind == "group":
            other = partial(nn.GroupNorm, num_groups=2)
        else:
            raise ValueError(self.kind)
        for _ in range(2):
            x = other(name=None)(nn.Dense(4)(x))
        return x


class ChosenFunction(nn.Module):
    norm_type: str = "layer_norm"
    width: int = 4

    @nn.compact
    def __call__(self, x, train: bool = False):
        if self.norm_type == "layer_norm":
            normalize = lambda x: nn.LayerNorm()(x)  # noqa: E731
        elif self.norm_type == "batch_norm":
            normalize = lambda x: nn.BatchNorm(use_running_average=not train)(x)  # noqa: E731
        else:
            normalize = lambda x: x  # noqa: E731
        for _ in range(2):
            x = nn.Dense(self.width)(x)
            x = normalize(x)
            x = nn.relu(x)
        return nn.Dense(3)(x)


class ChangedLater(nn.Module):
    """The condition is another one where the class is used."""

    depth: int = 2

    @nn.compact
    def __call__(self, x):
        is_first = True
        for _ in range(self.depth):
            norm = nn.LayerNorm if is_first else nn.RMSNorm
            x = norm()(nn.Dense(4)(x))
            is_first = False
        return x


class NeverSeen(nn.Module):
    """A function that builds, and that only other code calls."""

    @nn.compact
    def __call__(self, x):
        layers = {"a": lambda y: nn.Dense(3)(y)}
        return jax.tree.map(lambda function: function(x), layers)["a"]


class HoldsClass(nn.Module):
    width: int
    slope: float = 1.0
    layer: type = nn.Dense

    @nn.compact
    def __call__(self, x):
        return self.slope * self.layer(self.width)(x)


class AsksForClass(nn.Module):
    """What builds the block is a field, so that its own fields may be others than by default."""

    block: Callable = HoldsClass

    @nn.compact
    def __call__(self, x):
        block = self.block(6)
        layer = block.layer
        x = nn.tanh(block(x))
        if block.slope > 1.0:
            x = x + layer(6, name="more")(x)
        return layer(block.width - 2)(x)


class GivesClass(nn.Module):
    @nn.compact
    def __call__(self, x):
        block = partial(HoldsClass, layer=partial(nn.Dense, use_bias=False), slope=2.0)
        return AsksForClass(block)(x)


def norm_class(kind, groups=1):
    if kind == "rms":
        return nn.RMSNorm
    elif kind == "layer":
        return nn.LayerNorm
    return partial(nn.GroupNorm, num_groups=groups)


class ReturnedToName(nn.Module):
    kind: str = "rms"

    @nn.compact
    def __call__(self, x):
        norm = norm_class(self.kind)
        x = nn.Dense(4)(norm()(x))
        return norm(epsilon=1e-3)(x)


class ReturnedByMethod(nn.Module):
    kind: str = "rms"

    def norm_layer(self):
        if self.kind == "rms":
            return nn.RMSNorm
        elif self.kind == "layer":
            return nn.LayerNorm
        else:
            raise ValueError(f"an unknown kind: {self.kind}")

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(self.norm_layer()(name="norm")(x))


class OneNameForTwo(nn.Module):
    @nn.compact
    def __call__(self, x, is_biased: bool = True):
        if is_biased:
            x = nn.Dense(4, name="dense")(x)
        else:
            x = nn.Dense(4, use_bias=False, name="dense")(x)
        return x


class FromDict(nn.Module):
    kind: str = "dense"

    @nn.compact
    def __call__(self, x):
        layer = {"relu": nn.relu, "dense": nn.Dense}[self.kind]
        if self.kind == "dense":
            return layer(3)(x)
        return layer(x)


def norm_of(kind):
    return {"layer": nn.LayerNorm, "rms": nn.RMSNorm}[kind]


class FromFunction(nn.Module):
    """A function returns the class, and a local name holds the layer."""

    kind: str = "layer"

    @nn.compact
    def __call__(self, x):
        norm = norm_of(self.kind)()
        return norm(nn.Dense(3)(x))


class MadeInSetup(nn.Module):
    """Nothing is known of the class that a field names."""

    norm: Any

    def setup(self):
        self.first = self.norm()

    def __call__(self, x):
        return self.first(x)


X = jax.random.normal(jax.random.key(0), (2, 5))
ROWS = jnp.sin(jnp.arange(18.0)).reshape(3, 6)


class _Halved(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x) / 2


def _built(cls, x):
    return cls(4)(x)


class ClassesInTurn(nn.Module):
    """One call constructs several classes: in loops, a comprehension, functions and methods."""

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(5)(x)
        for cls in (nn.Dense, _Halved):
            x = cls(4)(x)
        x = nn.Dense(3)(x) + nn.Dense(3)(sum(cls(2)(x) for cls in (_Halved, nn.Dense)))
        for cls, width in ((_Halved, 3), (nn.Dense, 2)):
            x = cls(width)(x)
        x = _built(nn.Dense, x) + _built(_Halved, x)
        x = self.method(_Halved, x) - self.method(nn.Dense, x)
        return nn.Dense(2)(x)

    def method(self, cls, x):
        return cls(3)(x)


EXAMPLES = [
    Example(Build("ClassesInTurn"), X),
    Example(Build("ChosenNorms"), X, mutable=("batch_stats",), kwargs={"train": True}),
    Example(Build("ChosenNorms", bn=False, kind="group"), X),
    Example(Build("ChosenFunction"), X),
    Example(Build("ChosenFunction", "batch_norm"), X, train=True, mutable=("batch_stats",)),
    Example(Build("ChosenFunction", "none"), X),
    Example(Build("ChangedLater"), X),
    Example(Build("NeverSeen"), X),
    Example(Build("HoldsClass", 3), X),
    Example(Build("AsksForClass"), X),
    Example(Build("GivesClass"), X),
    Example(Build("ReturnedToName"), X),
    Example(Build("ReturnedToName", "layer"), X),
    Example(Build("ReturnedToName", "group"), X),
    Example(Build("ReturnedByMethod"), X),
    Example(Build("ReturnedByMethod", "layer"), X),
    Example(Build("OneNameForTwo"), X),
    Example(Build("OneNameForTwo"), X, is_biased=False),
    Example(Build("FromDict"), ROWS),
    Example(Build("FromDict", "relu"), ROWS),
    Example(Build("FromFunction"), X),
    Example(Build("MadeInSetup", nn.LayerNorm), X),
]
