# warns: DeprecationWarning
import jax.numpy as jnp
from flax import nnx

layer = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
state = nnx.state(layer)
leaves = [leaf for _, leaf in nnx.to_flat_state(state)]
result = [isinstance(leaf, nnx.VariableState) for leaf in leaves], jnp.sum(layer.kernel[...])
