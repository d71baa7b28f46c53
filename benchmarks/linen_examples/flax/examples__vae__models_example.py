"""Example calls for examples/vae/models.py of flax 0.12.8."""

import jax

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("Encoder", latents=8), wave(2, 12)),
    Example(Build("Decoder"), wave(2, 8)),
    Example(Build("VAE"), wave(2, 784), jax.random.key(1)),
]
