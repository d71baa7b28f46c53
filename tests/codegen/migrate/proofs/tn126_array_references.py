# fails: AttributeError
import jax.numpy as jnp
from flax import nnx

count = nnx.mutable_array(jnp.zeros(()))
count[...] += 1
result = [isinstance(count, nnx.MutableArray), count[...]]
