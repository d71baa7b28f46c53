import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
ROWS = jnp.cos(jnp.arange(24.0)).reshape(4, 2, 3)
EXAMPLES = [
    Example(Build("Drawn", 5), X),
    Example(Build("Drawn", 5, table=(0.5,)), X, name="Drawn, told"),
    Example(Build("DrawnOfCall"), X, rngs=("noise",)),
    Example(Build("DrawnTwice"), X),
    Example(Build("ReturnedInits", 4), X),
    Example(Build("ReturnedInits", 2, table=(0.5, 0.25)), X, name="ReturnedInits, told"),
    Example(Build("Linear", 3, 2), X),
    Example(Build("StyleOf", 1), ROWS, jnp.stack([X, X + 1, X - 1], axis=1)),
    Example(Build("Chained", 2, 5), X),
    Example(Build("Chained", 0, 5), X, name="Chained, empty"),
    Example(Build("SetupTable", 3), X),
    Example(Build("SetupTable", 3, table=(0.5, 0.25)), X, name="SetupTable, told"),
    Example(Build("SetupTableTwice", 3), X),
    Example(Build("NamedDtype"), X),
    Example(Build("NamedDtype", "half"), X, name="NamedDtype, half"),
]
