# fails: AttributeError
# flax 0.8.0 gives [2, 3] and 2 leaves too: `nnx.merge` took a tuple, the filter of `grad` came second.
import jax
import jax.numpy as jnp
import numpy as np
from flax.experimental import nnx


class Scale(nnx.Module):
    def __init__(self, value):
        self.scale = nnx.Param(jnp.full((), value))
        self.shift = nnx.BatchStat(jnp.ones(()))

    def __call__(self, x):
        return x * self.scale + self.shift


state, static = Scale(2.0).split()
model = nnx.merge((state, static))
again = nnx.merge(model.split())
grads = nnx.grad(lambda m: m(2.0), nnx.Param)(again)
state = again.get_state()
stats = state.extract(nnx.BatchStat)
leaves = jax.tree_util.tree_leaves((grads, stats))
result = [leaves, jnp.stack([leaves[0], again(1.0)])]
np.testing.assert_array_equal(result[-1], [2, 3])
