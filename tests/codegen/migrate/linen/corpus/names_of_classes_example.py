"""How the modules with names at the level of a class are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("RateDefault"), X),
    Example(Build("RateDefault", 0.3), X),
    Example(Build("RateInSignature", 2.0), X),
    Example(Build("InitOfNormalization"), X),
    Example(Build("UsesTarget"), X),
    Example(Build("ClassWidth"), X),
    Example(Build("Wider"), X),
    Example(Build("ClassWidthByName"), X),
    Example(Build("NotParen"), X),
    Example(Build("NotGlued"), X),
    Example(Build("NotGlued", True), X),
    Example(Build("NotParen", True), X),
    Example(Build("Described"), X),
    Example(Build("Described", 3), X),
]
