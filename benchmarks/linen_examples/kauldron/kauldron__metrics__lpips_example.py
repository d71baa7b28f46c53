"""Example calls for kauldron/metrics/lpips.py of kauldron 1.4.2."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(Build("_LpipsVgg"), wave(2, 16, 16, 3), wave(2, 16, 16, 3)[::-1]),
    Example(Build("VggNet"), wave(2, 16, 16, 3)),
    Example(Build("VggBlock", num_features=6, num_layers=2), wave(2, 8, 8, 3)),
]
