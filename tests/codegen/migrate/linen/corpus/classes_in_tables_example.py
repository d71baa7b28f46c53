"""How the modules with classes in tables are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("FromDict"), X),
    Example(Build("FromDict", "relu"), X),
    Example(Build("ActFromDict"), X),
    Example(Build("ActFromDict", "gelu"), X),
]
