# fails: TypeError
import jax.numpy as jnp
from flax import nnx

mask = jnp.array([1.0, 0.0, 1.0]).reshape(3, 1, 1)
conv = nnx.Conv(1, 1, (3,), mask_fn=lambda kernel: kernel * mask, rngs=nnx.Rngs(0))
result = conv(jnp.arange(4.0).reshape(1, 4, 1))
