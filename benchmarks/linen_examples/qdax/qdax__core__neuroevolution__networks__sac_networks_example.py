"""Example calls for qdax/core/neuroevolution/networks/sac_networks.py of qdax 0.5.0."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(Build("Actor", action_size=3, hidden_layer_size=(8, 8)), wave(2, 8)),
    Example(Build("Critic", hidden_layer_size=(8, 8)), wave(2, 8), wave(2, 3)),
]
