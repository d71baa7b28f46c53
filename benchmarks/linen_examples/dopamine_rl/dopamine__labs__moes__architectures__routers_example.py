"""Example calls for dopamine/labs/moes/architectures/routers.py of dopamine_rl 4.1.2."""

import jax
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(Build("RandomRouter", num_experts=3), wave(6, 8), key=jax.random.key(1)),
    Example(Build("TopKRouter", k=2, num_experts=3), wave(6, 8), key=jax.random.key(1)),
]
