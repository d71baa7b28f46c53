"""Calls of the modules with indices."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 45).reshape(3, 3, 5)

EXAMPLES = [Example(Build(name), X) for name in ("Reordered", "TurnedAxis", "Reshaped")]
