"""Calls of the modules with partials of the file."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 8).reshape(2, 4)

EXAMPLES = [Example(Build(name, 6), X) for name in ("OfPartials", "OfPartialsInSetup")]
