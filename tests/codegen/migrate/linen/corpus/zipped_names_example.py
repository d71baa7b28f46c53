"""Calls of the modules with counted names."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)

EXAMPLES = [Example(Build(name), X) for name in ("Zipped", "ZippedInLoop", "ZippedSizes")]
