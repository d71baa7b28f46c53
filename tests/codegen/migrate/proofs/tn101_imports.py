# logs: flax.experimental.nnx
import jax.numpy as jnp
from flax.experimental import nnx
from flax.experimental.nnx import Param

layer = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
assert isinstance(layer.kernel, Param)
result = layer(jnp.ones((1, 2)))
