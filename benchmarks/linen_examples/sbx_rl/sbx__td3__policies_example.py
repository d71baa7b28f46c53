"""Example calls for sbx/td3/policies.py of sbx_rl 0.28.0."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(Build("Actor", net_arch=(8, 8), action_dim=3), wave(2, 8)),
]
