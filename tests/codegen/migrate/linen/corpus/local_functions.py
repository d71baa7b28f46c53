"""Functions that methods define: initializers of layers and parameters, settings of submodules."""

from functools import partial
from typing import Any, Callable, Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class Siren(nn.Module):
    """Sines, with an initializer for the first layer and one for the others."""

    layers: Sequence[int]
    w0: float = 15.0

    @nn.compact
    def __call__(self, x):
        import math as _math

        def first_init(key, shape, dtype=jnp.float32):
            return jax.random.uniform(key, shape, dtype, -1.0 / shape[0], 1.0 / shape[0])

        def hidden_init(key, shape, dtype=jnp.float32):
            bound = _math.sqrt(6.0 / shape[0]) / self.w0
            return jax.random.uniform(key, shape, dtype, -bound, bound)

        h = jnp.sin(self.w0 * nn.Dense(self.layers[0], kernel_init=first_init)(x))
        for width in self.layers[1:-1]:
            h = jnp.sin(nn.Dense(width, kernel_init=hidden_init)(h))
        return nn.Dense(self.layers[-1], kernel_init=hidden_init)(h)


class NoisyDense(nn.Module):
    """Initializers that read the size of the input, for several parameters."""

    features: int

    @nn.compact
    def __call__(self, x, key=None):
        def mu_init(key, shape):
            bound = 1 / jnp.power(x.shape[-1], 0.5)
            return jax.random.uniform(key, minval=-bound, maxval=bound, shape=shape)

        def sigma_init(key, shape, dtype=jnp.float32):
            return jnp.ones(shape, dtype) * (0.1 / x.shape[-1])

        w_mu = self.param("kernel_mu", mu_init, (x.shape[-1], self.features))
        w_sigma = self.param("kernel_sigma", sigma_init, (x.shape[-1], self.features))
        b_mu = self.param("bias_mu", mu_init, (self.features,))
        noise = 0.0 if key is None else jax.random.normal(key, w_mu.shape)
        return x @ (w_mu + w_sigma * noise) + b_mu


class Scaled(nn.Module):
    """A layer whose size is what a function makes of a number."""

    stage: int
    width_of: Callable[[int], int]

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width_of(self.stage))(x)


class Stages(nn.Module):
    """Gives submodules a function that reads fields, and layers a partial with an initializer."""

    base: int = 8

    @nn.compact
    def __call__(self, x):
        def width_of(stage: int) -> int:
            return max(self.base // 2**stage, 2)

        def init(key, shape, dtype: Any = jnp.float32):
            return jnp.full(shape, 1.0 / shape[0], dtype)

        dense = partial(nn.Dense, use_bias=False, kernel_init=init)
        x = Scaled(0, width_of)(x)
        x = dense(5)(x)
        return dense(3)(x)


class LateInLoop(nn.Module):
    """A function that submodules keep, of the item of a loop: it would be that of the last one."""

    widths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for width in self.widths:

            def width_of(stage: int) -> int:
                return width + stage  # noqa: B023 - it is called at once

            x = Activated(lambda x: x, width_of)(x)
        return x


class Activated(nn.Module):
    """Calls a function when it is called."""

    activation: Callable[[Any], Any]
    width_of: Callable[[int], int]

    @nn.compact
    def __call__(self, x):
        return self.activation(x) * self.width_of(1)


X = jnp.linspace(-1.0, 1.0, 12).reshape(3, 4)

EXAMPLES = [
    Example(Build("Siren", (6, 5, 4, 2)), X),
    Example(Build("NoisyDense", 3), X),
    Example(Build("NoisyDense", 3), X, jax.random.PRNGKey(0)),
    Example(Build("Stages"), X),
    Example(Build("Stages", 3), X),
    Example(Build("LateInLoop", (2, 3)), X),
    Example(Build("Scaled", 3, abs), X),
    Example(Build("Activated", jnp.tanh, abs), X),
]
