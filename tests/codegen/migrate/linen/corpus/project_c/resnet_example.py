"""How the modules of the project are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

IMAGE = jnp.sin(jnp.arange(2 * 8 * 8 * 4.0)).reshape(2, 8, 8, 4)

EXAMPLES = [
    Example(Build("ResidualBlock", 4), IMAGE),
    Example(Build("ResidualBlock", 8, strides=(2, 2)), IMAGE),
    Example(Build("Stem"), IMAGE),
]
