"""Calls of the modules that functions declare for."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 24).reshape(6, 4)

EXAMPLES = [
    Example(Build("Logged"), X),
    Example(Build("Logged", 5), X),
    Example(Build("Twice"), X),
    Example(Build("InSetup"), X),
]
