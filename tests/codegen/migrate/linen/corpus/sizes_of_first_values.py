"""Variables whose first values follow from shapes: computed sizes, scales, axes, statistics."""

from functools import partial
from typing import Any, Callable

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax.linen.normalization import _canonicalize_axes, _compute_stats
from jax.nn import initializers

from typed_nnx_codegen.verify.examples import Build, Example


def absolute(rank, dims):
    return tuple([rank + dim if dim < 0 else dim for dim in dims])


class OwnNorm(nn.Module):
    axis: Any = -1
    epsilon: float = 1e-5
    scale_init: Callable = initializers.ones
    bias_init: Callable = initializers.zeros

    @nn.compact
    def __call__(self, x, train: bool = True):
        axes = self.axis if isinstance(self.axis, tuple) else (self.axis,)
        axes = absolute(x.ndim, axes)
        feature_shape = tuple(d if i in axes else 1 for i, d in enumerate(x.shape))
        reduced_shape = tuple(d for i, d in enumerate(x.shape) if i in axes)
        reduction = tuple(i for i in range(x.ndim) if i not in axes)
        mean_of = self.variable(
            "batch_stats", "mean", lambda s: jnp.zeros(s, jnp.float32), reduced_shape
        )
        if train:
            mean = jnp.mean(x, axis=reduction)
            if not self.is_initializing():
                mean_of.value = 0.9 * mean_of.value + 0.1 * mean
        else:
            mean = mean_of.value
        y = x - mean.reshape(feature_shape)
        scale = self.param("scale", self.scale_init, reduced_shape).reshape(feature_shape)
        bias = self.param("bias", self.bias_init, reduced_shape)
        return y * scale + bias.reshape(feature_shape)


class UsesOwnNorm(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = True):
        x = nn.Dense(6)(x)
        x = OwnNorm()(x, train)
        return nn.Dense(2)(x)


class Positions(nn.Module):
    @nn.compact
    def __call__(self, x):
        count = np.prod(np.array(x.shape[1:-1]))
        width = sum(s * 2 for s in x.shape[1:])
        table = self.param("table", initializers.normal(0.02), (1, count, width))
        half = self.param("half", initializers.normal(0.02), (int(np.ceil(x.shape[1] / 2)), 3))
        return jnp.sum(table) + jnp.sum(half) + x


class Chosen(nn.Module):
    flat: bool

    @nn.compact
    def __call__(self, x):
        if self.flat:
            count = np.prod(np.array(x.shape[1:]))
        else:
            count = np.prod(np.array(x.shape[2:]))
        table = self.param("table", nn.initializers.normal(1.0), (count, 2))
        return jnp.sum(table) + x


class ByRank(nn.Module):
    @nn.compact
    def __call__(self, x):
        if x.ndim == 3:
            count = np.prod(np.array(x.shape[:2])) + 1
        else:
            count = np.prod(np.array(x.shape[:1])) + 2
        table = self.param("table", nn.initializers.normal(1.0), (count, 2))
        return jnp.sum(table) + x


def doubled(t):
    t = t * 2
    return t


class Inline(nn.Module):
    width: int
    twice: bool = False

    @nn.compact
    def __call__(self, x):
        ramp = jnp.linspace(0.0, 1.0, self.width)
        a = self.variable("state", "a", jnp.array, ramp * 2)
        b = self.variable("state", "b", jnp.array, doubled(ramp))
        c = self.variable("state", "c", jnp.array, ramp)
        for _ in range(2):
            ramp = ramp * 3
        d = self.variable("state", "d", jnp.array, ramp)
        if self.twice:
            ramp = ramp + 1
        e = self.variable("state", "e", jnp.array, ramp)
        sizes = [s - 0 for s in x.shape[1:]]
        sizes[0] = 7
        f = self.variable("state", "f", jnp.zeros, sizes)
        kinds = [s + 1 for s in x.shape[1:]]
        if self.twice:
            kinds = [s + 2 for s in x.shape[1:]]
        g = self.variable("state", "g", jnp.zeros, kinds)
        return (
            jnp.sum(x)
            + a.value
            + b.value
            + c.value
            + d.value
            + e.value
            + f.value.size
            + g.value.size
        )


class SlowNorm(nn.Module):
    use_running_average: bool | None = None
    axis: int = -1
    epsilon: float = 1e-3
    warmup: int = 2
    dtype: Any = None
    param_dtype: Any = jnp.float32
    use_bias: bool = True
    use_scale: bool = True
    bias_init: Callable = jax.nn.initializers.zeros
    scale_init: Callable = jax.nn.initializers.ones

    @nn.compact
    def __call__(self, x, use_running_average: bool | None = None):
        use_running_average = nn.merge_param(
            "use_running_average", self.use_running_average, use_running_average
        )
        feature_axes = _canonicalize_axes(x.ndim, self.axis)
        reduction_axes = tuple(i for i in range(x.ndim) if i not in feature_axes)
        feature_shape = [x.shape[ax] for ax in feature_axes]
        mean_of = self.variable(
            "batch_stats", "mean", lambda s: jnp.zeros(s, jnp.float32), feature_shape
        )
        var_of = self.variable(
            "batch_stats", "var", lambda s: jnp.ones(s, jnp.float32), feature_shape
        )
        limit = self.variable("batch_stats", "limit", lambda s: s, 3)
        steps = self.variable("batch_stats", "steps", lambda s: s, 0)
        if use_running_average:
            mean, var = mean_of.value, var_of.value
        else:
            mean, var = _compute_stats(x, reduction_axes, dtype=self.dtype)
            if not self.is_initializing():
                warm = jnp.greater_equal(steps.value, self.warmup).astype(jnp.float32)
                mean = (
                    warm * jnp.clip(mean_of.value, -limit.value, limit.value) + (1.0 - warm) * mean
                )
                mean_of.value = 0.9 * mean_of.value + 0.1 * mean
                var_of.value = 0.9 * var_of.value + 0.1 * var
                steps.value += 1
        x = (x - mean) * jax.lax.rsqrt(var + self.epsilon)
        if self.use_scale:
            x = x * self.param("scale", self.scale_init, feature_shape, self.param_dtype)
        if self.use_bias:
            x = x + self.param("bias", self.bias_init, feature_shape, self.param_dtype)
        return x


class NormedBlock(nn.Module):
    width: int
    norm: Any = nn.LayerNorm

    @nn.compact
    def __call__(self, x):
        before = x
        x = self.norm()(x)
        x = nn.relu(nn.Dense(2 * self.width)(x))
        return before + nn.Dense(self.width)(x)


class SlowBlocks(nn.Module):
    widths: tuple[int, ...] = (6, 6)

    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = partial(SlowNorm, use_running_average=not train, warmup=0)
        x = norm()(x)
        x = nn.Dense(self.widths[0])(x)
        for width in self.widths:
            x = NormedBlock(width, norm)(x)
        x = norm()(x)
        return nn.Dense(1)(x)


class ScaledAlong(nn.Module):
    use_scale: bool = True
    scale_init: Any = initializers.normal()

    @nn.compact
    def __call__(self, x):
        return self._scaled(self, x, (-1,), self.use_scale, self.scale_init)

    def _scaled(self, owner, x, axes, use_scale, scale_init):
        axes = nn.normalization._canonicalize_axes(x.ndim, axes)
        wide = [1] * x.ndim
        sizes = []
        for axis in axes:
            wide[axis] = x.shape[axis]
            sizes.append(x.shape[axis])
        if use_scale:
            scale = owner.param("scale", scale_init, sizes, jnp.float32).reshape(wide)
            x = x * scale
        return x


class RankOfAnother(nn.Module):
    @nn.compact
    def __call__(self, x, y):
        wide = x[..., None]
        one = nn.Dense(wide.shape[x.ndim - 1])(x)
        two = nn.Dense(x.shape[wide.ndim - 2])(wide)
        row = y[:, 0]
        three = nn.Dense(y.shape[row.ndim - 1])(row)
        # Which axis of `y` this is, only the rank of `x` says.
        four = nn.Dense(y.shape[x.ndim - 2])(row)
        return one.sum() + two.sum() + three + four.sum()


class Codebook(nn.Module):
    """First values draw keys and read other variables."""

    count: int
    width: int

    def setup(self):
        init = nn.initializers.normal()
        self.codes = self.variable(
            "vq", "codes", lambda: init(self.make_rng("params"), (self.count, self.width))
        )
        self.average = self.variable("vq", "average", lambda: self.codes.value)

    def __call__(self, x, train: bool = True):
        nearest = jnp.argmax(x @ self.codes.value.T, axis=-1)
        if train:
            self.average.value = 0.9 * self.average.value + 0.1 * x.sum((0, 1))
            self.codes.value = self.average.value
        return self.codes.value[nearest]


class PowerIteration(nn.Module):
    """The first value is a function with a local of its own."""

    @nn.compact
    def __call__(self, x):
        def first():
            key = self.make_rng("params")
            return jax.random.normal(key, (1, x.shape[-1]))

        u = self.variable("power", "u", first)
        v = self.variable("power", "v", lambda: jnp.zeros((2, x.shape[-1])) + u.value)
        u.value = u.value * 2.0
        return x * u.value + v.value.sum()


class UsesFirstValues(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = PowerIteration()(nn.Dense(3)(x))
        x = Codebook(4, 3)(x)
        w = self.variable("power", "w", jax.random.normal, jax.random.key(0), (1, 5))
        return nn.Dense(2)(w.value * x.sum())


X = jnp.linspace(-1.0, 1.0, 24).reshape(3, 2, 4)
ROWS = X.reshape(6, 4)
STATS = ("batch_stats",)

EXAMPLES = [
    Example(Build("OwnNorm"), X, mutable=STATS),
    Example(Build("OwnNorm", axis=(1, 2)), X, mutable=STATS),
    Example(Build("OwnNorm"), X, train=False),
    Example(Build("UsesOwnNorm"), X, mutable=STATS),
    Example(Build("Positions"), X),
    Example(Build("Chosen", True), X),
    Example(Build("Chosen", False), X),
    Example(Build("ByRank"), X),
    Example(Build("Inline", 3), X, mutable=("state",)),
    Example(Build("Inline", 3, True), X, mutable=("state",)),
    Example(Build("SlowNorm"), ROWS, False, mutable=STATS),
    Example(Build("SlowNorm", use_scale=False, use_running_average=True), ROWS, mutable=STATS),
    Example(Build("SlowNorm", use_bias=False, use_running_average=False), ROWS, mutable=STATS),
    Example(Build("NormedBlock", 4), ROWS),
    Example(Build("SlowBlocks"), ROWS, train=True, mutable=STATS),
    Example(Build("SlowBlocks"), ROWS),
    Example(Build("ScaledAlong"), X),
    Example(Build("ScaledAlong", use_scale=False), ROWS),
    Example(Build("RankOfAnother"), ROWS, X),
    Example(Build("Codebook", 5, 4), X, mutable=("vq",)),
    Example(Build("PowerIteration"), X, mutable=("power",)),
    Example(Build("UsesFirstValues"), X, mutable=("vq", "power")),
]
