import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 30).reshape(2, 3, 5)
EXAMPLES = [
    Example(Build("Flipping"), X, jnp.array([1, 3])),
    Example(Build("MappedInCall"), X[0]),
    Example(Build("MappedTwice"), X),
    Example(Build("Vectorized"), X),
    Example(Build("UnsureRank"), X[0]),
    Example(Build("UnsureRank"), X),
    Example(Build("MappedModules", 4), X),
    Example(Build("MappedInPlace", 4), X[0], X[1]),
    Example(Build("OwnProduct", 4), X),
    Example(Build("OwnProducts", (4, 6)), X),
    Example(Build("OwnProducts", (4,)), X[0]),
    Example(Build("MapOfPython", 4), X),
]
