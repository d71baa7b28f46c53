"""How the modules of the file are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

EXAMPLES = [Example(Build("MLP"), jnp.sin(jnp.arange(18.0)).reshape(3, 6))]
