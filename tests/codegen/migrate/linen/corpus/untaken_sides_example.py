import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
TABLE = (tuple(map(tuple, np.cos(np.arange(12.0)).reshape(3, 4).tolist())), (0.1, 0.2, 0.3, 0.4))
EXAMPLES = [
    Example(Build("FromTables", 4), X),
    Example(Build("FromTables", 4, TABLE), X, name="FromTables, told"),
    Example(Build("WithoutBias", 4), X),
    Example(Build("WithoutBias", 4, TABLE), X, name="WithoutBias, told"),
    Example(Build("EndOfCall"), X),
    Example(Build("EndOfCall"), X, "narrow", name="EndOfCall, narrow"),
    Example(Build("Chosen"), X),
    Example(Build("ChosenElse"), X),
]
