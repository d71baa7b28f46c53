"""Example calls for examples/ppo/models.py of flax 0.12.8."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(Build("ActorCritic", num_outputs=3), wave(2, 16, 16, 3)),
]
