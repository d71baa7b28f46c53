"""Calls of the modules that class methods construct."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
MLP = Build("Mlp", 3)

EXAMPLES = [
    Example(MLP, X),
    Example(Build("Block", mixer=MLP, mlp=Build("Mlp")), X),
    Example(Build("Chain", (3, 2)), X),
    Example(Build("OfFields"), X),
    Example(Build("OfFunctions"), X),
    Example(Build("OfStaticMethods"), X),
]
