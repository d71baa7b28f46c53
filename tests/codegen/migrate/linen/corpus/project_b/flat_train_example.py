"""How the models are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("Policy"), X),
    Example(Build("Policy", Build("Settings", hidden=4)), X),
    Example(Build("Stack"), X),
]
