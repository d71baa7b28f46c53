# fails: AttributeError
import jax.numpy as jnp
from flax import nnx

layer = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
result = [nnx.is_data_type(value) for value in (layer, jnp.ones(2), 3, "text", nnx.List([layer]))]
