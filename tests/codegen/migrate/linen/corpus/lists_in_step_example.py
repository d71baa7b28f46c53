"""Calls of the modules with lists in step."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)

EXAMPLES = [
    Example(Build("Zipped", (4, 6, 3)), X),
    Example(Build("Compact", (4, 6, 3)), X),
    Example(Build("Numbered", (4, 6, 3)), X),
    Example(Build("Sometimes", (4, 6, 3)), X),
    Example(Build("SameAgain"), X),
]
