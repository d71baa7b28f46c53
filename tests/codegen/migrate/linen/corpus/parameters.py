"""Every way in which people write `self.param`."""

from __future__ import annotations

from typing import Any, Callable, Optional, Tuple

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class ExplicitDense(nn.Module):
    features: int
    kernel_init: Callable = nn.initializers.lecun_normal()
    bias_init: Callable = nn.initializers.zeros_init()

    @nn.compact
    def __call__(self, inputs):
        kernel = self.param("kernel", self.kernel_init, (inputs.shape[-1], self.features))
        y = jnp.dot(inputs, kernel)
        bias = self.param("bias", self.bias_init, (self.features,))
        return y + bias


class SetupParams(nn.Module):
    """The attribute and the name of the parameter differ."""

    dim: int
    out: int

    def setup(self):
        self.w = self.param("weight", nn.initializers.xavier_uniform(), (self.dim, self.out))
        self.b = self.param("offset", lambda rng, shape: jnp.zeros(shape), (self.out,))
        self.temperature = self.param("temperature", lambda _: jnp.ones(()) * 0.07)

    def __call__(self, x):
        return (x @ self.w + self.b) / self.temperature


class PromptedEncoder(nn.Module):
    """Learned tokens before the real ones."""

    num_prompts: int
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, tokens):
        b, _, d = tokens.shape
        prompts = self.param(
            "prompts", nn.initializers.normal(stddev=0.02), (self.num_prompts, d), self.dtype
        )
        prompts = jnp.broadcast_to(prompts[None], (b,) + prompts.shape)
        x = jnp.concatenate([prompts, tokens], axis=1)
        x = nn.gelu(nn.Dense(2 * d)(x))
        return nn.Dense(d)(x)


class PerHeadScale(nn.Module):
    num_heads: int

    @nn.compact
    def __call__(self, x):
        *batch, d = x.shape
        head_dim = d // self.num_heads
        x = x.reshape(*batch, self.num_heads, head_dim)
        scale = self.param("scale", jax.nn.initializers.ones, (self.num_heads, 1))
        shift = self.param("shift", nn.initializers.zeros, (self.num_heads, head_dim))
        return (x * scale + shift).reshape(*batch, d)


class LowPrecision(nn.Module):
    """Casts as mixed precision code does."""

    features: int
    dtype: Any = jnp.bfloat16
    param_dtype: Any = jnp.float32
    use_bias: bool = True
    split: Optional[Tuple[int, ...]] = None

    @nn.compact
    def __call__(self, x):
        kernel = self.param(
            "kernel",
            nn.initializers.variance_scaling(1.0, "fan_avg", "uniform"),
            (x.shape[-1], self.features),
            self.param_dtype,
        )
        bias = None
        if self.use_bias:
            bias = self.param("bias", nn.initializers.zeros, (self.features,), self.param_dtype)
        x, kernel, bias = nn.dtypes.promote_dtype(x, kernel, bias, dtype=self.dtype)
        y = jax.lax.dot_general(x, kernel, (((x.ndim - 1,), (0,)), ((), ())))
        if bias is not None:
            y = y + bias
        if self.split is not None:
            return jnp.split(y, self.split, axis=-1)
        return y


class NamedInLoops(nn.Module):
    count: int

    @nn.compact
    def __call__(self, x):
        total = jnp.zeros_like(x)
        for i in range(self.count):
            total = total + x ** (i + 1) * self.param(
                f"power_{i}", nn.initializers.ones, x.shape[-1:]
            )
        shifts = [self.param(f"shift{i}", nn.initializers.normal(), (1,)) for i in range(2)]
        return total + shifts[0] * shifts[1]


class KeywordsAndTrees(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        def pair(key, shape, scale=1.0):
            one, other = jax.random.split(key)
            return {
                "mean": scale * jax.random.normal(one, shape),
                "spread": (jax.random.normal(other, shape), jnp.ones(shape)),
            }

        scale = self.param(name="scale", init_fn=lambda key: jnp.full((self.width,), 2.0))
        tree = self.param("tree", pair, (x.shape[-1], self.width), scale=0.3)
        bias = self.param("bias", self.start, self.width, unbox=False)
        return (x @ tree["mean"] + x @ (tree["spread"][0] * tree["spread"][1])) * scale + bias

    def start(self, key, width):
        return 0.1 * jax.random.normal(key, (width,))


class OneOrTheOther(nn.Module):
    """Both sides of a branch declare one parameter; the last one is there on one side alone."""

    rank: int = 0

    @nn.compact
    def __call__(self, x):
        if self.rank:
            weight = self.param("weight", nn.initializers.normal(), (x.shape[-1], self.rank))
            weight = weight @ self.param("low", nn.initializers.normal(), (self.rank, 3))
        else:
            weight = self.param("weight", nn.initializers.normal(), (x.shape[-1], 3))
        return x @ weight


class ComputedInSetup(nn.Module):
    """What `setup` computes from parameters follows them when they change."""

    dim: int

    def setup(self):
        raw = self.param("log_scale", nn.initializers.normal(1.0), (self.dim,))
        positive = jnp.exp(raw)
        self.scale = positive / positive.sum()
        self.weight = self.param("w", nn.initializers.normal(1.0), (self.dim, self.dim))
        self.symmetric = (self.weight + self.weight.T) / 2

    def __call__(self, x):
        return (x * self.scale) @ self.symmetric

    def norm(self, x):
        return jnp.linalg.norm(self.weight) * x


class NamedAxes(nn.Module):
    features: int
    kernel_init: Any = nn.with_partitioning(nn.initializers.normal(0.3), ("embed", None))

    @nn.compact
    def __call__(self, x):
        init = nn.with_logical_partitioning(nn.initializers.ones, ("mlp",))
        x = nn.Dense(self.features, kernel_init=self.kernel_init)(x)
        return x * self.param("scale", init, (self.features,))


class LinearRecurrence(nn.Module):
    """The initializers are functions of `setup`; one reads parameters."""

    dim: int
    r_min: float = 0.1

    def setup(self):
        r_min = self.r_min

        def nu_init(key, shape):
            return jnp.log(jax.random.uniform(key, shape) + r_min)

        self.nu = self.param("nu", nu_init, (self.dim,))
        self.theta = self.param("theta", nn.initializers.uniform(), (self.dim,))

        def gamma_init(*_):
            return jnp.log(1 + jnp.exp(self.nu) * self.theta)

        self.gamma = self.param("gamma", gamma_init)

    def __call__(self, x):
        return x * jnp.exp(self.gamma) + self.theta


def spectrum(size):
    """Return a vector, and a matrix."""
    return jnp.arange(size) + 1.0, jnp.eye(size) * 2.0


class OfLocals(nn.Module):
    """Arrays that `setup` binds in branches."""

    dim: int
    half: bool = True

    def setup(self):
        count = self.dim // 2 if self.half else self.dim
        if self.dim > 2:
            values, basis = spectrum(self.dim)
            values = values[:count]
        else:
            values, basis = spectrum(self.dim)
            values = jnp.concatenate([values] * 2)

        def basis_init(key, shape):
            return basis @ nn.initializers.normal()(key, shape)

        self.values = self.param("values", lambda *_: values.real)
        self.basis = self.param("basis", basis_init, (self.dim, 3))

    def __call__(self, x):
        return x @ self.basis + self.values.sum()


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
ROWS = jnp.sin(jnp.arange(8.0)).reshape(2, 4)

EXAMPLES = [
    Example(Build("ExplicitDense", 4), X),
    Example(Build("ExplicitDense", 4, nn.initializers.normal(0.3), nn.initializers.ones), X),
    Example(Build("SetupParams", 6, 4), X),
    Example(Build("PromptedEncoder", 3), SEQ),
    Example(Build("PerHeadScale", 3), SEQ),
    Example(Build("LowPrecision", 4), X),
    Example(Build("LowPrecision", 4, dtype=jnp.float32, use_bias=False, split=(1, 2)), X),
    Example(Build("NamedInLoops", 3), ROWS),
    Example(Build("KeywordsAndTrees", 3), ROWS),
    Example(Build("OneOrTheOther"), ROWS),
    Example(Build("OneOrTheOther", 2), ROWS),
    Example(Build("ComputedInSetup", 4), ROWS),
    Example(Build("ComputedInSetup", 4), ROWS, method="norm"),
    Example(Build("NamedAxes", 3), ROWS),
    Example(Build("LinearRecurrence", 4), ROWS),
    Example(Build("LinearRecurrence", 4, r_min=0.5), ROWS),
    Example(Build("OfLocals", 4), ROWS),
    Example(Build("OfLocals", 4, half=False), ROWS),
    Example(Build("OfLocals", 2), ROWS[:, :2]),
]
