"""Calls of the modules whose parts are given an argument sometimes."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X, CONTEXT = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5), jnp.linspace(0.0, 1.0, 14).reshape(2, 7)
EXAMPLES = [
    Example(Build("Reads", 3), X),
    Example(Build("Reads", 3), X, CONTEXT),
    Example(Build("ReadsSometimes"), X, CONTEXT),
    Example(Build("ReadsSometimes", crosses=True), X, CONTEXT),
]
