# warns: DeprecationWarning
import jax.numpy as jnp
from flax import nnx

v = nnx.Param(jnp.ones(3))
v.raw_value = v.raw_value * 2
v.raw_value += 1
result = v.raw_value
