# fails: AttributeError
import jax.numpy as jnp
from flax import nnx

model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
state, static = model.split()
y, (state, static) = static.apply(state)(jnp.ones((1, 2)))
y2, (updates, _) = static.apply(state)(jnp.ones((1, 2)))
result = [y, y2, sorted(state), sorted(updates)]
