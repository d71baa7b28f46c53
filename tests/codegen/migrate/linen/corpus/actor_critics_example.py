"""Calls of the actors and critics."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

OBS = jnp.linspace(-1.0, 1.0, 3 * 2 * 4).reshape(3, 2, 4)
DONES = jnp.array([[False, False], [True, False], [False, True]])
CARRY = jnp.linspace(-0.5, 0.5, 2 * 8).reshape(2, 8)
PICTURE = jnp.linspace(0.0, 255.0, 2 * 3 * 12 * 12).reshape(2, 3, 12, 12)
ROWS = jnp.transpose(PICTURE, (0, 2, 3, 1)) / 255.0

EXAMPLES = [
    Example(Build("ResettingRNN"), CARRY, (jnp.ones((3, 2, 8)) * 0.3, DONES)),
    Example(Build("RecurrentActorCritic", 3, config={}), CARRY, (OBS, DONES)),
    Example(Build("Stage", 4, 1), ROWS),
    Example(Build("Encoder"), ROWS),
    Example(Build("ImpalaPolicy", 3), ROWS[0]),
    Example(Build("ImpalaPolicy", 3, 2), ROWS[0]),
    Example(Build("Halvings", 4, 1), ROWS),
    Example(Build("HalvingPolicy", 3), ROWS),
]
