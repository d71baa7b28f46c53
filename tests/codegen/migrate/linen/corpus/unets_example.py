"""Calls of the U-Nets."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)

EXAMPLES = [
    Example(Build("BeginsWithInput", (4, 6, 3)), X),
    Example(Build("GrowsLater", (4, 6, 3)), X),
    Example(Build("ByPlace", (4, 6, 3)), X),
]
