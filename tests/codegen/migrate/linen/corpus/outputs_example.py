"""How the modules with structured inputs and outputs are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
IMAGE = jnp.sin(jnp.arange(2 * 6 * 6 * 3.0)).reshape(2, 6, 6, 3)
STATE = jnp.cos(jnp.arange(10.0)).reshape(2, 5)

EXAMPLES = [
    Example(Build("MomentHead", 4), X),
    Example(Build("MomentUser"), X),
    Example(Build("GaussianEncoder", 3), X),
    Example(Build("GaussianUser"), X),
    Example(Build("DictInput"), {"image": IMAGE, "state": STATE}),
    Example(Build("DictInput"), {"image": IMAGE, "state": STATE, "goal": STATE[:, :2]}),
    Example(Build("ManyArguments", 3), X, X[:, :2]),
    Example(Build("ManyArguments", 3), X, X[:, :2], X[:, :1], goal=X[:, :3], time=X[:, :2]),
]
