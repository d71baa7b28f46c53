"""How the layers are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("ResidualMLP", 4), X),
    Example(Build("ResidualMLP", width=4, depth=2), X),
    Example(Build("ConvStem", (3, 4)), IMAGES),
    Example(Build("SpatialSoftmax", temperature=0.5), IMAGES),
]
