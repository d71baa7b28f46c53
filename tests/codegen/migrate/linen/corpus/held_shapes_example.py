"""Calls of the modules whose fields say shapes."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

EXAMPLES = [
    Example(Build("Actor", (2, 3)), jnp.ones((5,))),
    Example(Build("Critic"), jnp.ones((5,)), jnp.ones((2, 2))),
    Example(Build("ActorCritic", (2, 3)), jnp.ones((5,))),
    Example(Build("ActorCritic", (4,)), jnp.ones((5,)), use_mean=False),
    Example(Build("Shaped", (2, 3)), jnp.ones((5,))),
    Example(Build("Shaped", (2, 3, 4)), jnp.ones((5,))),
    Example(Build("Templates"), jnp.ones((2, 8))),
]
