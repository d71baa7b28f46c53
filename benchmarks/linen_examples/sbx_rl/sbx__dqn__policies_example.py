"""Example calls for sbx/dqn/policies.py of sbx_rl 0.28.0."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(Build("QNetwork", n_actions=3), wave(2, 8)),
    Example(Build("CnnQNetwork", n_actions=3), wave(2, 3, 64, 64)),
]
