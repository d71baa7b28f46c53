"""Norms of the library in odd forms, and norms of our own."""

from functools import partial
from typing import Sequence

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class LayerNormFP32(nn.Module):
    dim: int
    elementwise_affine: bool = True

    def setup(self):
        if self.elementwise_affine:
            self.gamma = self.param("gamma", nn.initializers.ones, (self.dim,))
            self.beta = self.param("beta", nn.initializers.zeros, (self.dim,))

    def __call__(self, x):
        dtype = x.dtype
        x = x.astype(jnp.float32)
        mean = x.mean(-1, keepdims=True)
        x = (x - mean) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        if self.elementwise_affine:
            x = x * self.gamma + self.beta
        return x.astype(dtype)


class RunningNorm(nn.Module):
    """Normalises observations by statistics that it keeps."""

    epsilon: float = 1e-8

    @nn.compact
    def __call__(self, x, update: bool = False):
        initializing = self.is_mutable_collection("params")
        feature_shape = x.shape[1:]
        mean = self.variable("obs_stats", "mean", jnp.zeros, feature_shape)
        var = self.variable("obs_stats", "var", lambda s: jnp.ones(s, jnp.float32), feature_shape)
        count = self.variable("obs_stats", "count", lambda: jnp.array(1e-4))
        if update and not initializing:
            batch_mean, batch_var, n = x.mean(0), x.var(0), x.shape[0]
            delta = batch_mean - mean.value
            total = count.value + n
            m2 = var.value * count.value + batch_var * n
            m2 = m2 + delta**2 * count.value * n / total
            mean.value = mean.value + delta * n / total
            var.value = m2 / total
            count.value = total
        return (x - mean.value) / jnp.sqrt(var.value + self.epsilon)


class CrossNorm(nn.Module):
    """Joins two batches to share their statistics."""

    use_batch_norm: bool = True
    momentum: float = 0.99

    @nn.compact
    def __call__(self, a, b, train: bool = False):
        x = jnp.concatenate([a, b], axis=0)
        if self.use_batch_norm:
            x = nn.BatchNorm(momentum=self.momentum, use_running_average=not train)(x)
        else:
            x_dummy = nn.BatchNorm(momentum=self.momentum, use_running_average=not train)(x)
            x = x + 0.0 * x_dummy
        x = nn.relu(nn.Dense(4)(x))
        return jnp.split(x, 2, axis=0)


class NormFactory(nn.Module):
    """Chooses a norm by its name."""

    kind: str = "layer"
    train: bool = False

    @nn.compact
    def __call__(self, x):
        if self.kind == "layer":
            norm = nn.LayerNorm(epsilon=1e-3, use_bias=False)
        elif self.kind == "group":
            norm = nn.GroupNorm(num_groups=None, group_size=3)
        elif self.kind == "rms":
            norm = nn.RMSNorm()
        elif self.kind == "batch":
            norm = nn.BatchNorm(use_running_average=not self.train, momentum=0.5)
        elif self.kind == "instance":
            norm = nn.InstanceNorm()
        else:
            norm = lambda y: y  # noqa: E731
        return norm(nn.Dense(6)(x))


class SpectralMLP(nn.Module):
    hidden: Sequence[int]

    @nn.compact
    def __call__(self, x, train: bool):
        for size in self.hidden:
            x = nn.SpectralNorm(nn.Dense(size), n_steps=1)(x, update_stats=train)
            x = nn.leaky_relu(x, 0.2)
        return nn.Dense(1)(x)


class WeightNormed(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        x = nn.WeightNorm(nn.Dense(self.features))(x)
        return nn.WeightNorm(nn.Conv(3, (2,)), variable_filter={"kernel"})(nn.relu(x))


class NormedEnsemble(nn.Module):
    """Stacks layers in layers: those of `nn.WeightNorm`."""

    @nn.compact
    def __call__(self, x):
        stacked = nn.vmap(
            WeightNormed,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=None,
            out_axes=0,
            axis_size=2,
        )
        return stacked(4)(x)


class BatchStatsReader(nn.Module):
    """Keeps a running mean by hand, by name."""

    @nn.compact
    def __call__(self, x, train: bool = False):
        ra_mean = self.variable("batch_stats", "mean", lambda s: jnp.zeros(s), (x.shape[-1],))
        if train:
            mean = x.mean(tuple(range(x.ndim - 1)))
            if not self.is_initializing():
                ra_mean.value = 0.9 * ra_mean.value + 0.1 * mean
        else:
            mean = ra_mean.value
        return x - mean


class PlainAmongOthers(nn.Module):
    """One norm without variables, which Linen counts as it counts the others."""

    plain: bool = True

    @nn.compact
    def __call__(self, x):
        norm = partial(nn.LayerNorm, use_bias=False)
        x = nn.Dense(5)(norm()(x))
        x = nn.Dense(5)(norm(use_scale=False)(x))
        if self.plain:
            x = x + nn.LayerNorm(use_bias=False, use_scale=False)(x)
        return nn.LayerNorm()(x)


X = jnp.sin(jnp.arange(20.0)).reshape(4, 5)
SEQ = jnp.sin(jnp.arange(2 * 4 * 5.0)).reshape(2, 4, 5)
BN = ("batch_stats",)

EXAMPLES = [
    Example(Build("LayerNormFP32", 5), SEQ),
    Example(Build("LayerNormFP32", dim=5, elementwise_affine=False), SEQ),
    Example(Build("RunningNorm"), X),
    Example(Build("RunningNorm"), X, update=True, mutable=("obs_stats",)),
    Example(Build("CrossNorm"), X, X + 1, train=True, mutable=BN),
    Example(Build("CrossNorm", use_batch_norm=False), X, X + 1, train=False),
    Example(Build("NormFactory"), X),
    Example(Build("NormFactory", kind="group"), X),
    Example(Build("NormFactory", "rms"), X),
    Example(Build("NormFactory", "batch"), X),
    Example(Build("NormFactory", "batch", train=True), X, mutable=BN),
    Example(Build("NormFactory", "instance"), SEQ),
    Example(Build("NormFactory", "none"), X),
    Example(Build("SpectralMLP", (6, 4)), X, train=False),
    Example(Build("SpectralMLP", (6, 4)), X, train=True, mutable=BN),
    Example(Build("WeightNormed", 6), SEQ),
    Example(Build("NormedEnsemble"), SEQ),
    Example(Build("BatchStatsReader"), SEQ, train=True, mutable=BN),
    Example(Build("BatchStatsReader"), SEQ),
    Example(Build("PlainAmongOthers"), X),
    Example(Build("PlainAmongOthers", plain=False), X),
]
