"""How the modules with containers are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
IMAGES = jnp.sin(jnp.arange(2 * 6 * 6 * 3.0)).reshape(2, 6, 6, 3)
GLU = Build("GLU", 4)

EXAMPLES = [
    Example(Build("AppendedList", (5, 4)), X),
    Example(Build("AppendedList", (5, 4), norm=True), X),
    Example(Build("HeadDict", {"policy": 3, "value": 1}), X),
    Example(Build("NestedContainers"), X),
    Example(GLU, X),
    Example(
        Build(
            "GivenHeads",
            Build("flax.linen.Dense", 5),
            {"a": Build("flax.linen.Dense", 2), "b": GLU},
        ),
        X,
    ),
    Example(Build("MultiModal", ("image", "text"), 4), {"image": X, "text": X[:, :2]}),
    Example(Build("ParallelBranches", (1, 3), 4), IMAGES),
]
