"""How the models are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(12.0)).reshape(2, 6)
IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("Agent", 4, 3), {"state": X, "image": IMAGES}),
    Example(Build("Classifier", classes=5), IMAGES),
]
