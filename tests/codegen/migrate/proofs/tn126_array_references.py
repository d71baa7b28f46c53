# fails: AttributeError
import jax.numpy as jnp
from flax import nnx

count = nnx.mutable_array(jnp.zeros(()))
count[...] += 1
model = nnx.mutable(nnx.Linear(2, 3, rngs=nnx.Rngs(0)))
frozen = nnx.freeze(model)
result = [isinstance(count, nnx.MutableArray), count[...], frozen(jnp.ones((1, 2)))]
