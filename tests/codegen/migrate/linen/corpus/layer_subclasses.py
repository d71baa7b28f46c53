"""Classes that derive from layers of the library."""

import flax.linen as nn
import jax.numpy as jnp
from flax.linen.initializers import variance_scaling

from typed_nnx_codegen.verify.examples import Build, Example

SCALE = 1 / 3


class Dense(nn.Dense):
    """A product that begins as another library has it."""

    def __init__(self, *args, **kwargs):
        kwargs.update({"kernel_init": variance_scaling(SCALE, "fan_in", "uniform")})
        super().__init__(*args, **kwargs)


class General(nn.DenseGeneral):
    def __init__(self, *args, **kwargs):
        from flax.linen.initializers import lecun_normal

        given = {"kernel_init": lecun_normal()}
        given.update(kwargs)
        super().__init__(*args, **given)


class Gentle(Dense):
    pass


class DerivedLayers(nn.Module):
    features: int = 4

    def setup(self):
        self.first = Dense(self.features)
        self.second = General((2, 3), axis=-1)
        self.third = Gentle(5)

    def __call__(self, x):
        y = self.second(self.first(x))
        y = y.reshape(*y.shape[:-2], 6)
        return self.third(y)


X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
EXAMPLES = [
    Example(Build("Dense", 4), X),
    Example(Build("General", (2, 3)), X),
    Example(Build("Gentle", 4), X),
    Example(Build("DerivedLayers"), X),
]
