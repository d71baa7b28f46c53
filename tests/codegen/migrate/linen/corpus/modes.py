"""Modules that ask whether batch statistics are mutable: that tells them whether they are trained."""

from collections.abc import Callable
from functools import partial

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class NormByMode(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(self.features)(x)
        is_training = self.is_mutable_collection("batch_stats")
        return nn.BatchNorm(use_running_average=not is_training)(h)


class NormInField(nn.Module):
    """The class of the norm is a field, and may be None."""

    features: int = 4
    norm: Callable | None = partial(nn.BatchNorm, momentum=0.8)

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.features, use_bias=self.norm is None)(x)
        if self.norm is not None:
            x = self.norm(use_running_average=not self.is_mutable_collection("batch_stats"))(x)
        return nn.relu(x)


class HoldsModes(nn.Module):
    """One norm beside them has its mode from the call, one always the running averages."""

    @nn.compact
    def __call__(self, x, train: bool = False):
        for width in (5, 3):
            x = NormByMode(width)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.BatchNorm(use_running_average=True)(x)
        return NormInField()(x)


class OutputByMode(nn.Module):
    """The mode decides more than the statistics."""

    @nn.compact
    def __call__(self, x):
        train = self.is_mutable_collection("batch_stats")
        x = nn.BatchNorm(use_running_average=not train)(x)
        if not train:
            x = 2.0 * x
        return x + train


class OwnStatistics(nn.Module):
    """Averages of its own, which only training changes."""

    @nn.compact
    def __call__(self, x):
        mean = self.variable("batch_stats", "mean", jnp.zeros, (x.shape[-1],))
        now = mean.value
        if self.is_mutable_collection("batch_stats") and not self.is_initializing():
            now = x.mean(0)
            mean.value = 0.9 * mean.value + 0.1 * now
        return x - now


class HasModeField(nn.Module):
    """It has a field of the name that the mode has in NNX."""

    use_running_average: bool = False

    @nn.compact
    def __call__(self, x):
        x = nn.BatchNorm(use_running_average=self.use_running_average)(x)
        return x + self.is_mutable_collection("batch_stats")


class AsksInSetup(nn.Module):
    """It asks once, and what it builds depends on the answer."""

    def setup(self):
        self.train = self.is_mutable_collection("batch_stats")
        self.norm = nn.BatchNorm(use_running_average=not self.train)

    def __call__(self, x):
        return self.norm(x)


class ModeInSequence(nn.Module):
    """Layers in an `nn.Sequential` get their mode from the call."""

    size: int

    @nn.compact
    def __call__(self, x, train: bool = False):
        net = nn.Sequential(
            [
                nn.Dense(self.size),
                nn.BatchNorm(use_running_average=not train),
                nn.relu,
                nn.Dropout(0.5, deterministic=not train),
                nn.Dense(3),
            ]
        )
        return net(x)


class ModesWithin(nn.Module):
    """Calls such modules."""

    @nn.compact
    def __call__(self, x, train: bool = False):
        return ModeInSequence(4)(x, train) + ModeInSequence(5)(x)


class CallsNorm(nn.Module):
    """Calls a module in a field."""

    norm: nn.Module

    @nn.compact
    def __call__(self, x):
        return self.norm(nn.Dense(3)(x))


class ModeGiven(nn.Module):
    """What another module calls does not see the mode: a person must look."""

    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = nn.BatchNorm(use_running_average=not train)
        return CallsNorm(norm)(x)


class ModeAlsoAlone(nn.Module):
    """A layer is in two sequences, and called alone."""

    @nn.compact
    def __call__(self, x, train: bool = False):
        drop = nn.Dropout(0.5, deterministic=not train)
        y = nn.Sequential([nn.Dense(3), drop])(x)
        return nn.Sequential([nn.Dense(4), drop, nn.Dense(2)])(drop(y))


X = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
STATS = ("batch_stats",)
BUILDS = (
    Build("NormByMode", 5),
    Build("NormInField"),
    Build("NormInField", norm=None),
    Build("HoldsModes"),
    Build("OutputByMode"),
    Build("OwnStatistics"),
    Build("AsksInSetup"),
)
EXAMPLES = [
    *(Example(build, X, mutable=STATS, name=f"{build} in training") for build in BUILDS),
    *(Example(build, X, name=f"{build} in evaluation") for build in BUILDS),
    Example(Build("HoldsModes"), X, mutable=STATS, train=True, name="HoldsModes, all in training"),
    Example(Build("HasModeField"), X, mutable=STATS),
    Example(Build("ModeInSequence", 4), X),
    Example(Build("ModesWithin"), X),
    *(Example(Build(name), X) for name in ("ModeGiven", "ModeAlsoAlone")),
    Example(Build("CallsNorm", Build("flax.linen.LayerNorm")), X),
]
