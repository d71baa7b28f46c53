import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
EXAMPLES = [
    Example(Build("Shifted", X[0]), X),
    Example(Build("StartedByPair", (X[0], X[1])), X),
    Example(Build("ManyArrays", (X[0], X[1])), X),
    Example(Build("ManyArrays", [X[0], X[1], X]), X),
    Example(Build("NamedArrays", {"one": X[0]}), X),
    Example(Build("Holder"), X),
    Example(Build("StartedThenScaled", (X[0], X[1]), 2.0), X),
    Example(Build("HolderOfScaled"), X),
    Example(Build("Boxed"), X),
]
