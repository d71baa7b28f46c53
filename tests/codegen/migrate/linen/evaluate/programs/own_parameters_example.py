"""How the modules with parameters of their own are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(8.0)).reshape(2, 4)

EXAMPLES = [
    Example(Build("NamedInLoops", 3), X),
    Example(Build("NamedByHelper", 5), X),
    Example(Build("KeywordsAndTrees", 3), X),
    Example(Build("OneOrTheOther"), X),
    Example(Build("OneOrTheOther", 2), X),
    Example(Build("ComputedInSetup", 4), X),
    Example(Build("ComputedInSetup", 4), X, method="norm"),
    Example(Build("TakenNames"), X),
    Example(Build("NamedAxes", 3), X),
]
