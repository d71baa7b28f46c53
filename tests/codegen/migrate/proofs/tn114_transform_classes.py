# fails: AttributeError
import jax.numpy as jnp
from flax import nnx


class Block(nnx.Module):
    def __init__(self, dim, rngs: nnx.Rngs):
        self.linear = nnx.Linear(
            dim, dim, use_bias=False, kernel_init=nnx.initializers.ones, rngs=rngs
        )

    def __call__(self, x, _):
        return self.linear(x), x


class Head(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.linear = nnx.Linear(2, 3, kernel_init=nnx.initializers.ones, rngs=rngs)

    def __call__(self, x):
        return self.linear(x)


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.layers = nnx.Scan(Block, variable_axes={nnx.Param: 0}, length=2)(2, rngs=rngs)
        self.head = nnx.Remat(Head)(rngs)

    def __call__(self, x):
        x, sums = self.layers(x, None)
        return self.head(x), sums


result = Model(nnx.Rngs(0))(jnp.ones(2))
