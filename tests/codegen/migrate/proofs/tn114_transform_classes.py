# fails: AttributeError
import jax.numpy as jnp
from flax import nnx


class Head(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.linear = nnx.Linear(2, 3, kernel_init=nnx.initializers.ones, rngs=rngs)

    def __call__(self, x):
        return self.linear(x)


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.head = nnx.Remat(Head)(rngs)

    def __call__(self, x):
        return self.head(x)


result = Model(nnx.Rngs(0))(jnp.ones(2))
