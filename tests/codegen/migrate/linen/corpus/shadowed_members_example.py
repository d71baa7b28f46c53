"""Calls of the modules whose fields stand in for members of a base."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)

EXAMPLES = [
    Example(Build("ByFields", 3), X),
    Example(Build("ByFields", 3, is_scalar=False, label="longer"), X),
    Example(Build("Derived", 3), X),
    Example(Build("ByMethods"), X),
]
