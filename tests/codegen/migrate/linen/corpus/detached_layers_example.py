"""Calls of the modules around layers that belong to no module."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 45).reshape(3, 3, 5)

EXAMPLES = [
    Example(Build("Standardized", 3), X[None]),
    Example(Build("Around"), X),
    Example(Build("OnlyKernel"), X),
    Example(Build("Fixed"), X),
    Example(Build("Chosen"), X[None]),
    Example(Build("Chosen", True), X[None]),
    Example(Build("Renamed", 2), X[None]),
]
