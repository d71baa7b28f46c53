"""Example calls of `cases_rl`."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

_STEPS = (jnp.ones((5, 3, 4)), jnp.arange(15).reshape(5, 3) % 4 == 0)

EXAMPLES = [
    Example(Build("ScaledHead", 4), jnp.ones((2, 3))),
    Example(Build("ScaledHead", 4, is_last=True), jnp.ones((2, 3)), name="last"),
    Example(Build("StackedFrames"), jnp.ones((8, 8, 3)), name="three axes"),
    Example(Build("StackedFrames"), jnp.ones((8, 8, 3, 2)), name="four axes"),
    Example(Build("MaybeFlat"), jnp.ones((2, 3)), name="vectors"),
    Example(Build("MaybeFlat"), jnp.ones((2, 3, 4)), name="matrices"),
    Example(Build("Batched"), jnp.ones((3,))),
    Example(Build("RecurrentPolicy"), jnp.ones((3, 6)), _STEPS),
    Example(Build("Framed"), jnp.ones((2, 3, 6))),
    Example(Build("ActorCritic"), jnp.ones((2, 3)), method="judge", name="one head"),
    Example(Build("Agent"), jnp.ones((2, 6))),
]
