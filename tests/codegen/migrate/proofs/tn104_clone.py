# fails: AttributeError
import jax.numpy as jnp
from flax import nnx

model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
other = model.clone()
model.bias = nnx.Param(jnp.ones(3))
result = [other.bias[...], model.bias[...]]
