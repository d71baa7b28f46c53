"""How they are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
IMAGES = jnp.sin(jnp.arange(2 * 4 * 4 * 3.0)).reshape(2, 4, 4, 3)

EXAMPLES = [
    Example(Build("SingleNames", 4), X),
    Example(Build("SingleNamesConv"), IMAGES, jnp.array([1, 4])),
]
