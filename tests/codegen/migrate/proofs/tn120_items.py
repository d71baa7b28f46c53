# fails: TypeError
import jax.numpy as jnp
from flax import nnx

v = nnx.Param(jnp.ones(3))
v.value[0] = 2.0
v.value[1:] += 1.0
names = nnx.Variable({"a": 1})
names.value["b"] = names.value["a"] + 1
result = [v.value, names.value]
