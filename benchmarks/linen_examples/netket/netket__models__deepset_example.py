"""Example calls for netket/models/deepset.py of netket 3.23.0."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(Build("DeepSetMLP"), wave(2, 8)),
    Example(Build("DeepSetMLP", use_bias=False), wave(2, 8), name="use_bias=False"),
]
