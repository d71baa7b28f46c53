# stays: give that array
import jax.numpy as jnp
from flax import nnx

conv = nnx.Conv(1, 1, (3,), mask_fn=lambda kernel: kernel * 2, rngs=nnx.Rngs(0))
result = conv(jnp.arange(4.0).reshape(1, 4, 1))
