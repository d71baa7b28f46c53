"""Example calls for examples/vae/models.py of flax 0.12.8."""

import jax
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(Build("Encoder", latents=8), wave(2, 12)),
    Example(Build("Decoder"), wave(2, 8)),
    Example(Build("VAE"), wave(2, 784), jax.random.key(1)),
]
