"""How the modules with cells are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(24.0)).reshape(2, 3, 4)

EXAMPLES = [
    Example(Build("CellInLoop", 5), X),
    Example(Build("CarryWithoutCell", 5), X),
    Example(Build("OverTime", 5), X),
    Example(Build("BothWays", 5), X),
    Example(Build("Stack", (5, 3)), X),
    Example(Build("Stack", (3, 3)), X, name="equal widths"),
    Example(Build("NormalizedTwice", (5, 5)), X[:, 0, :], train=True, mutable=("batch_stats",)),
    Example(Build("ReadsBothStates", 3), X),
]
