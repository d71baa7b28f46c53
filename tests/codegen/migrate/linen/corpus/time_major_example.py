"""How the modules with swapped axes and named defaults are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

EXAMPLES = [
    Example(Build("HeadsFirst"), jnp.sin(jnp.arange(30.0)).reshape(5, 6)),
    Example(Build("TimeFirst"), jnp.sin(jnp.arange(60.0)).reshape(2, 5, 6)),
    Example(Build("TimeFirst", width=6), jnp.sin(jnp.arange(72.0)).reshape(3, 4, 6)),
    Example(Build("FieldsOfTheClass"), jnp.ones((2, 5))),
    Example(Build("FieldsOfTheClass", groups=3), jnp.ones((2, 5))),
    Example(Build("FieldsOfTheClass", groups=3, factor=4), jnp.ones((2, 5))),
]
