"""Calls of the modules whose methods define functions."""

import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 12).reshape(3, 4)

EXAMPLES = [
    Example(Build("Siren", (6, 5, 4, 2)), X),
    Example(Build("NoisyDense", 3), X),
    Example(Build("NoisyDense", 3), X, jax.random.PRNGKey(0)),
    Example(Build("Stages"), X),
    Example(Build("Stages", 3), X),
    Example(Build("InLoops", (3, 2)), X),
    Example(Build("InLoops", (3, 2), True), X),
    Example(Build("LateInLoop", (2, 3)), X),
    Example(Build("InSetup", 3), X),
    Example(Build("KeptFunctions", ("wide", "narrow")), X),
    Example(Build("Scaled", 3, abs), X),
    Example(Build("Activated", jnp.tanh, abs), X),
]
