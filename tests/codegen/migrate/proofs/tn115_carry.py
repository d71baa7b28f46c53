# fails: ValueError
import jax.numpy as jnp
from flax import nnx


# Flax 0.9.0 had the axes of what is stacked alone: what is carried came first.
@nnx.scan(in_axes=(nnx.Carry, 0), out_axes=1)
def run(carry, x):
    return carry + x, carry * x


result = list(run(jnp.ones(2), jnp.arange(6.0).reshape(3, 2)))
