# fails: NotImplementedError
import jax.numpy as jnp
from flax import nnx


class Counter(nnx.Module):
    def __init__(self):
        self.count = nnx.Variable(jnp.array(0))
        self.calls = nnx.Variable(1)

    def __call__(self):
        self.count += 2
        self.calls *= 3


counter = Counter()
counter()
v = nnx.Param(jnp.ones(3))
v -= 0.5
result = [counter.count.value, counter.calls.value, v.value[0], v.value]
