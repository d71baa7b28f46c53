"""Calls of the modules with spare parts."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

EXAMPLES = [
    Example(Build("Inner", 4), jnp.ones((2, 5))),
    Example(Build("Unused", 4), jnp.ones((2, 5))),
    Example(Build("UnusedModule", 4), jnp.ones((2, 5))),
    Example(Build("Passed", 4), jnp.ones((2, 5))),
    Example(Build("Lends"), jnp.ones((2, 5))),
]
