# fails: AttributeError
# flax 0.8.0 gives these numbers too: an assignment stored the value in the Variable.
import jax
import jax.numpy as jnp
import numpy as np
from flax.experimental import nnx


class Stat(nnx.Variable):
    pass


class RunningMean(nnx.Module):
    def __init__(self, dim, decay=0.9):
        self.mean = Stat(jnp.zeros((dim,)))
        self.steps = Stat(jnp.zeros((), jnp.int32))
        self.decay = decay

    def __call__(self, x):
        self.mean = self.decay * self.mean + (1 - self.decay) * x
        self.steps = self.steps + 1
        return x - self.mean


model = RunningMean(3)
for _ in range(2):
    y = model(jnp.arange(1.5, 4.5))
leaves = jax.tree_util.tree_leaves(model.extract(Stat))
np.testing.assert_allclose(leaves[0], [0.285, 0.475, 0.665], rtol=1e-5)
result = [y, len(leaves), *leaves]
