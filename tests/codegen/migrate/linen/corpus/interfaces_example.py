"""How the modules of protocols are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(10.0)).reshape(2, 5)

EXAMPLES = [
    Example(Build("MeanEncoder"), X),
    Example(Build("MeanEncoder", 3), X, mask=jnp.ones((2, 1))),
    Example(Build("TypedEncoder"), X),
    Example(Build("Towers"), X),
]
