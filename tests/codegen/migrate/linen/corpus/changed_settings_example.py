"""How modules with lists of settings that change are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(2 * 5.0)).reshape(2, 5)

EXAMPLES = [
    Example(Build("ChangedByCall"), X),
    Example(Build("ChangedByCall"), X, deep=True),
    Example(Build("ChosenWidths", 2), X),
    Example(Build("ChosenWidths", 2, (3, 4)), X),
    Example(Build("ChosenWidths", 2, factors=(1, 2)), X),
    Example(Build("DeeperThanField"), X),
    Example(Build("DeeperThanField", deep=True), X),
]
