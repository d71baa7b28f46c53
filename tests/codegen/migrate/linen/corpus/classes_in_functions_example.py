"""Calls of the modules whose classes functions define."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 6).reshape(2, 3)

EXAMPLES = [Example(Build("GatedFour"), X)]
