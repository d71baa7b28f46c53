"""How the modules of the project are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
IMAGE = jnp.sin(jnp.arange(2 * 8 * 8 * 4.0)).reshape(2, 8, 8, 4)

EXAMPLES = [
    Example(Build("Net"), IMAGE),
    Example(Build("BlockField"), IMAGE),
    Example(Build("Auto"), X),
    Example(Build("Auto", 3), X),
    Example(Build("AutoCompact"), X),
    Example(Build("Made"), IMAGE),
    Example(Build("Derived", 3), IMAGE),
    Example(Build("Hidden"), X),
]
