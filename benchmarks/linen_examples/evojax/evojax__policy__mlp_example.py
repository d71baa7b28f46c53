"""Example calls for evojax/policy/mlp.py of evojax 0.2.17."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(Build("MLP", feat_dims=(8, 8), out_dim=3, out_fn="tanh"), wave(2, 8)),
]
