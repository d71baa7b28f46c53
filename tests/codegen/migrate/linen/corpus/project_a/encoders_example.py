"""How the encoders are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("StateEncoder", 4), X),
    Example(Build("ImageEncoder"), IMAGES),
    Example(Build("ImageEncoder", (2,), keypoints=False), IMAGES),
]
