"""Functions that methods define: initializers of layers and parameters, settings of submodules."""

from functools import partial
from typing import Any, Callable, Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


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


class ShortNames(nn.Module):
    """Local functions that only give constructors a short name, one of them with what they are given."""

    width: int = 4

    @nn.compact
    def __call__(self, x, train: bool = True):
        bn = lambda: nn.BatchNorm(use_running_average=not train, momentum=0.9)  # noqa: E731 - what is tested

        def dense(features, rate, is_training):
            layer = nn.Dense(features)
            return layer if rate == 0 else nn.Dropout(rate, deterministic=not is_training)

        drop = lambda is_off: nn.Dropout(0.5, deterministic=is_off)  # noqa: E731 - what is tested
        y = nn.relu(bn()(dense(self.width, 0, train)(x)))
        if y.shape != x.shape:
            x = bn()(nn.Dense(self.width, name="shortcut")(x))
        return drop(not train or self.width > 3)(x + y)


class FunctionsOfEachOther(nn.Module):
    """A local function calls another one."""

    @nn.compact
    def __call__(self, x, train: bool = True):
        bn = lambda: nn.BatchNorm(use_running_average=not train)  # noqa: E731 - what is tested

        def block(h, features):
            return nn.relu(bn()(nn.Dense(features)(h)))

        return block(block(x, 4), 5)


class BoundBehind(nn.Module):
    """The name means something else where the layer is called."""

    @nn.compact
    def __call__(self, x, train: bool = True):
        bn = lambda: nn.BatchNorm(use_running_average=not train)  # noqa: E731 - what is tested
        train = train and x.shape[0] > 3
        return bn()(nn.Dense(3)(x))


class HelperOfNorms(nn.Module):
    """A method constructs one of several layers, for what it is given."""

    kind: str = "batch"

    def norm(self, kind, train, **settings):
        if kind == "batch":
            return nn.BatchNorm(use_running_average=not train, momentum=0.9, **settings)
        return nn.LayerNorm(**settings)

    @nn.compact
    def __call__(self, x, train: bool = True, frozen: bool = False):
        return self.norm(self.kind, train and not frozen)(nn.Dense(4)(x))


X = jnp.linspace(-1.0, 1.0, 12).reshape(3, 4)

EXAMPLES = [
    Example(Build("NoisyDense", 3), X),
    Example(Build("NoisyDense", 3), X, jax.random.PRNGKey(0)),
    Example(Build("Stages"), X),
    Example(Build("Stages", 3), X),
    Example(Build("LateInLoop", (2, 3)), X),
    Example(Build("Scaled", 3, abs), X),
    Example(Build("Activated", jnp.tanh, abs), X),
    Example(Build("ShortNames"), X, mutable=("batch_stats",)),
    Example(Build("ShortNames", 3), X, train=False),
    Example(Build("FunctionsOfEachOther"), X, mutable=("batch_stats",)),
    Example(Build("FunctionsOfEachOther"), X, train=False),
    Example(Build("BoundBehind"), X, mutable=("batch_stats",)),
    Example(Build("HelperOfNorms"), X, mutable=("batch_stats",)),
    Example(Build("HelperOfNorms"), X, frozen=True),
    Example(Build("HelperOfNorms", "layer"), X, False),
]
