"""How the modules of first calls are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(8.0)).reshape(2, 4)
IMAGE = jnp.cos(jnp.arange(2 * 5 * 5 * 3.0)).reshape(2, 5, 5, 3)

EXAMPLES = [
    Example(Build("Residual", 4), X),
    Example(Build("Residual", 3), X),
    Example(Build("ResidualConv", 3), IMAGE),
    Example(Build("ResidualConv", 4), IMAGE),
    Example(Build("Residuals"), X),
    Example(Build("CountsCalls"), X),
    Example(Build("BeginsWithNone"), X, mutable=("memory",)),
    Example(Build("GrowingBuffer"), X, mutable=("memory",)),
]
