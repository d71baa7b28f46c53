"""Calls of the modules whose first values read arrays."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 24).reshape(6, 4)
ROWS = X.reshape(2, 3, 4)

EXAMPLES = [
    Example(Build("MaskOfSetup", (4, 6)), X),
    Example(Build("MaskOfSetup", (4, 5), strict=True), X),
    Example(Build("CountsOfSetup", (2, 2)), X),
    Example(Build("CountsOfSetup", (4,)), X),
    Example(Build("MaskOfInputs", 2), ROWS),
    Example(Build("MaskOfInputs", 3, True), ROWS),
    Example(Build("ChangedInPlace", 4), X),
    Example(Build("Borrows", (4, 6)), X),
    Example(Build("MadeInSetup", 4), X),
    Example(Build("MadeInMethod", 3), X),
    Example(Build("ConstantOfSetup"), X),
    Example(Build("ShiftedByLocal", 2), X),
    Example(Build("RefusesOthers", "one"), X),
    Example(Build("RefusesOthers", "two"), X),
    Example(Build("FieldTable", jnp.ones((5, 7))), X),
]
