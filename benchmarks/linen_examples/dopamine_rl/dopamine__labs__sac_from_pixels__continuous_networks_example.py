"""Example calls for dopamine/labs/sac_from_pixels/continuous_networks.py of dopamine_rl 4.1.2."""

import jax
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(Build("SACEncoderNetwork"), wave(2, 16, 16, 3)),
    Example(Build("SACConvNetwork", action_shape=(3,)), wave(84, 84, 4), jax.random.key(1)),
]
