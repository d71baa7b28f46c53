"""Example calls of `cases_vision`."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

_IMAGE = jnp.linspace(-1.0, 1.0, 2 * 8 * 8 * 3).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("Unit", 3, 4), _IMAGE, name="projected"),
    Example(Build("Unit", 3, 3), _IMAGE, name="plain"),
    Example(Build("Stage", 3, 4), _IMAGE, name="stage"),
    Example(Build("Stage", 3, 5, depth=3, shrinks=False), _IMAGE, name="deep stage"),
    Example(Build("Middle", 3, 4, 2), _IMAGE),
    Example(Build("Chain"), jnp.ones((2, 3))),
    Example(Build("Chain", (5,)), jnp.ones((2, 3)), name="short chain"),
    Example(Build("Cross"), jnp.ones((2, 3, 5)), name="itself"),
    Example(Build("Cross"), jnp.ones((2, 3, 5)), jnp.ones((2, 3, 7)), name="another"),
]
