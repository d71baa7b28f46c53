# fails: AttributeError
import jax.numpy as jnp
from flax import nnx


class Residual(nnx.Sequence):
    def __call__(self, x):
        for layer in self:
            x = x + layer(x)
        return x


rngs = nnx.Rngs(0)
block = Residual([nnx.Linear(2, 2, rngs=rngs), nnx.Linear(2, 2, rngs=rngs)])
result = block(jnp.ones((1, 2))), [str(path) for path, _ in nnx.to_flat_state(nnx.state(block))]
