"""Calls of the classes that inherit `setup`."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 30).reshape(2, 5, 3)
CONTEXT = jnp.linspace(-1.0, 1.0, 56).reshape(2, 4, 7)
BESIDE = jnp.linspace(-1.0, 1.0, 70).reshape(2, 5, 7)

EXAMPLES = [
    Example(Build("Mixer", 3), X),
    Example(Build("Mixer", 3), X, CONTEXT),
    Example(Build("TurnedMixer", 3), X),
    Example(Build("WideMixer", 3), X, BESIDE),
    Example(Build("OneOrSeveral", 4), X),
    Example(Build("OneOrSeveral", (4, 5)), X),
    Example(Build("OneOrSeveral", (4, 5), (1.0, 3.0)), X),
]
