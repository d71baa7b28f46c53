"""Calls of the modules with parameters that begin with values of others."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 12).reshape(3, 4)

EXAMPLES = [
    Example(Build("LinearRecurrence", 4), X),
    Example(Build("LinearRecurrence", 4, r_min=0.5), X),
    Example(Build("OfLocals", 4), X),
    Example(Build("OfLocals", 4, half=False), X),
    Example(Build("OfLocals", 2), X[:, :2]),
]
