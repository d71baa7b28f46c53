"""Example calls for netket/models/mlp.py of netket 3.23.0."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(Build("MLP"), wave(2, 8)),
    Example(Build("MLP", use_output_bias=True), wave(2, 8), name="use_output_bias=True"),
]
