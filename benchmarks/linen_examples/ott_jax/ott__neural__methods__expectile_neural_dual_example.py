"""Example calls for ott/neural/methods/expectile_neural_dual.py of ott_jax 0.6.0."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(
        Build("PotentialModelWrapper", model=Build("flax.linen.Dense", features=8)), wave(2, 8)
    ),
]
