"""Every way in which people write `self.param`."""

from typing import Any, Callable, Optional, Tuple

import jax
import jax.numpy as jnp
from flax import linen as nn


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


class LoRADense(nn.Module):
    features: int
    rank: int
    alpha: float = 1.0

    @nn.compact
    def __call__(self, x):
        y = nn.Dense(self.features, name="base")(x)
        if self.rank > 0:
            in_dim = x.shape[-1]
            a = self.param("lora_a", nn.initializers.normal(0.02), (in_dim, self.rank))
            b = self.param("lora_b", nn.initializers.zeros, (self.rank, self.features))
            y = y + (x @ a @ b) * (self.alpha / self.rank)
        return y


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


class ContrastiveHead(nn.Module):
    """A logit scale beside two projections of different inputs."""

    projection_dim: int
    logit_scale_init_value: float = 2.6592

    def setup(self):
        self.visual_projection = nn.Dense(self.projection_dim, use_bias=False)
        self.text_projection = nn.Dense(self.projection_dim, use_bias=False)
        self.logit_scale = self.param(
            "logit_scale", lambda _, shape: jnp.ones(shape) * self.logit_scale_init_value, []
        )

    def __call__(self, image, text):
        image = self.visual_projection(image)
        text = self.text_projection(text)
        image = image / jnp.linalg.norm(image, axis=-1, keepdims=True)
        text = text / jnp.linalg.norm(text, axis=-1, keepdims=True)
        return jnp.exp(self.logit_scale) * image @ text.T


class TreeParam(nn.Module):
    """One parameter that is a dict of arrays."""

    size: int

    @nn.compact
    def __call__(self, x):
        def init(key, shape):
            k1, k2 = jax.random.split(key)
            return {
                "mean": jax.random.normal(k1, shape),
                "log_std": 0.1 * jax.random.normal(k2, shape),
            }

        posterior = self.param("posterior", init, (x.shape[-1], self.size))
        return x @ posterior["mean"], x**2 @ jnp.exp(2 * posterior["log_std"])


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


class LearnedPositions(nn.Module):
    """One table or another by a field; the table is longer than the text."""

    max_len: int
    kind: str = "learned"

    @nn.compact
    def __call__(self, x):
        length, d = x.shape[-2:]
        if self.kind == "learned":
            table = self.param("pos", nn.initializers.normal(0.02), (self.max_len, d))
            pos = table[:length]
        elif self.kind == "sincos":
            pos = jnp.sin(jnp.arange(length)[:, None] / (1.0 + jnp.arange(d)))
        else:
            raise ValueError(f"unknown kind {self.kind}")
        return x + pos


class PolynomialRegression(nn.Module):
    """Parameters named in a loop."""

    degree: int

    @nn.compact
    def __call__(self, x):
        total = self.param("c0", nn.initializers.zeros, (1,))
        for power in range(1, self.degree + 1):
            coefficient = self.param(f"c{power}", nn.initializers.normal(), (1,))
            total = total + coefficient * x**power
        return total


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
