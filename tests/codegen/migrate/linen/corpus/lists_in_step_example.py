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
    Example(Build("OtherOrder", (4, 6, 4)), X),
    Example(Build("OtherNames", (4, 6, 3)), X),
    Example(Build("LeftOut", (5, 6)), X),
    Example(Build("FromBehind", (4, 6, 3)), X),
    Example(Build("OneBefore", (5, 5)), X),
    Example(Build("HiddenName", (4, 6)), X),
]
