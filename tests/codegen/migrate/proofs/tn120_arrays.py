# warns: DeprecationWarning
import jax
import jax.numpy as jnp
from flax import nnx


class Normalized(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.mean = nnx.BatchStat(jnp.zeros(3))
        self.count = nnx.Variable(jnp.array(0))
        self.total = nnx.Variable(jnp.array(0))
        self.cache = nnx.Cache(jnp.zeros((0, 3)))

    def __call__(self, x):
        y = x @ self.linear.kernel.value + self.linear.bias.value[None]
        self.mean.value = 0.5 * self.mean.value + 0.5 * y.mean(axis=0)
        self.mean.value = self.mean.value.at[0].set(2.0)
        self.count.value += x.shape[0]
        self.total.value += y.sum()
        self.cache.value = jnp.concatenate([self.cache.value, y])
        return y - self.mean.value[None]


model = Normalized(nnx.Rngs(0))
y = model(jnp.ones((2, 2)))
model.linear.kernel.value = model.linear.kernel.value.astype(jnp.bfloat16)
state = nnx.state(model, nnx.Variable)
scaled = jax.tree.map(
    lambda v: v.replace(v.value * 2), state, is_leaf=lambda x: isinstance(x, nnx.Variable)
)
total = sum(jnp.sum(leaf.value, dtype=jnp.float32) for _, leaf in nnx.to_flat_state(scaled))
result = (
    [y, total, model.mean.value, model.count.value, model.total.value, model.cache.value.shape],
    [model.linear.kernel.value.astype(jnp.float32), str(model.linear.kernel.value.dtype)],
)
