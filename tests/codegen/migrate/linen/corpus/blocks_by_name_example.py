"""Calls of the modules whose blocks are of two classes."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
CONTEXT = jnp.linspace(-1.0, 2.0, 14).reshape(2, 7)
SKIPS = (jnp.ones((2, 7)), jnp.linspace(0.0, 1.0, 6).reshape(2, 3))
EXAMPLES = [
    Example(Build("Plain", 4, 2), X),
    Example(Build("Attending", 4, 2, last=True), X, CONTEXT),
    Example(Build("PlainUp", 4, 2), X, SKIPS),
    Example(Build("AttendingUp", 4, 2), X, SKIPS, CONTEXT),
    Example(Build("BlocksByName"), X, CONTEXT),
    Example(Build("BlocksByName", ("plain", "attend", "plain"), (4, 6, 5), 1), X, CONTEXT),
]
