# fails: TypeError
import jax.numpy as jnp
from flax import nnx

v = nnx.Variable(jnp.zeros(3), use_ref=True)
w = nnx.Variable(jnp.zeros(3), mutable=True)
v.get_raw_value()[0] = 1.0
w.get_raw_value()[1] = 2.0
result = v[...] + w[...]
