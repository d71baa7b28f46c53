"""Example calls for flaxmodels/few_shot_gan_adaption/discriminator.py of flaxmodels 0.1.3."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(Build("FromRGBLayer", fmaps=8), wave(2, 16, 16, 3), wave(8)),
    Example(Build("DiscriminatorLayer", fmaps=8), wave(2, 16, 16, 3)),
    Example(
        Build("DiscriminatorLayer", fmaps=8, use_bias=False),
        wave(2, 16, 16, 3),
        name="use_bias=False",
    ),
]
