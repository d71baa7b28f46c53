# fails: AttributeError
# flax 0.8.3 gives the same shapes, counts and values: `in_axes` of a class had one of the Module.
import jax
import jax.numpy as jnp
import numpy as np
from flax.experimental import nnx


def line(key, shape, dtype=jnp.float32):
    return jnp.linspace(-0.5, 0.5, int(np.prod(shape)), dtype=dtype).reshape(shape)


class Count(nnx.Variable):
    pass


class Block(nnx.Module):
    def __init__(self, dim, *, rngs: nnx.Rngs):
        self.linear = nnx.Linear(dim, dim, kernel_init=line, rngs=rngs)
        self.count = Count(jnp.zeros(()))

    def __call__(self, x: jax.Array, _) -> tuple[jax.Array, None]:
        self.count.value += 1
        return x + nnx.tanh(self.linear(x)), None


class Head(nnx.Module):
    def __init__(self, dim, *, rngs: nnx.Rngs):
        self.out = nnx.Linear(dim, 2, kernel_init=line, rngs=rngs)

    def __call__(self, x):
        return self.out(x)


class Model(nnx.Module):
    def __init__(self, dim, n, *, rngs: nnx.Rngs):
        self.blocks = nnx.Scan(Block, length=n)(dim, rngs=rngs)
        self.heads = nnx.Vmap(Head, in_axes=(None, None), axis_size=2)(dim, rngs=rngs)

    def __call__(self, x):
        x, _ = self.blocks(x, None)
        return self.heads(x)


model = Model(4, 3, rngs=nnx.Rngs(0))
y = model(jnp.arange(8.0).reshape(2, 4) / 8)
counts = jax.tree_util.tree_leaves(nnx.state(model, Count))
np.testing.assert_array_equal(counts[0], [1, 1, 1])
assert y.shape == (2, 2, 2)
result = [y, *counts]
