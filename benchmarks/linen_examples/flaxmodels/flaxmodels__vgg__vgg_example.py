"""Example calls for flaxmodels/vgg/vgg.py of flaxmodels 0.1.3."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(
        Build("VGG", pretrained=None, include_head=False, output="activations"),
        wave(2, 32, 32, 3),
        train=False,
    ),
]
