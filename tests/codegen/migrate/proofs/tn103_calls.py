# fails: TypeError
import jax.numpy as jnp
from flax import nnx

leaf = nnx.VariableState(nnx.Param, jnp.arange(3.0), name="w")
result = isinstance(leaf, nnx.Param), leaf[...], leaf.name
