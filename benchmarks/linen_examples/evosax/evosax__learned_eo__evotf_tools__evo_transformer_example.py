"""Example calls for evosax/learned_eo/evotf_tools/evo_transformer.py of evosax 0.1.6."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(
        Build("EvoTransformer", embed_dim=8, num_heads=2, num_latents=2, latent_dim=8),
        wave(2, 3, 4, 5, 8),
        wave(2, 3, 4, 8),
        wave(2, 3, 5, 8),
    ),
    Example(
        Build(
            "EvoTransformer", embed_dim=8, num_heads=2, num_latents=2, latent_dim=8, use_bias=True
        ),
        wave(2, 3, 4, 5, 8),
        wave(2, 3, 4, 8),
        wave(2, 3, 5, 8),
        name="use_bias=True",
    ),
]
