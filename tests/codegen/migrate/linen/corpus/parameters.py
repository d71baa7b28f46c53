"""Every way in which people write `self.param`."""

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


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)

EXAMPLES = [
    Example(Build("ExplicitDense", 4), X),
    Example(Build("ExplicitDense", 4, nn.initializers.normal(0.3), nn.initializers.ones), X),
    Example(Build("SetupParams", 6, 4), X),
    Example(Build("PromptedEncoder", 3), SEQ),
    Example(Build("PerHeadScale", 3), SEQ),
    Example(Build("LowPrecision", 4), X),
    Example(Build("LowPrecision", 4, dtype=jnp.float32, use_bias=False, split=(1, 2)), X),
]
