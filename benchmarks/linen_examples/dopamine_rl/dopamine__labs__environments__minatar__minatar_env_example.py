"""Example calls for dopamine/labs/environments/minatar/minatar_env.py of dopamine_rl 4.1.2."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("MinatarDQNNetwork", num_actions=3), wave(2, 16, 16, 3)),
    Example(
        Build("MinatarRainbowNetwork", num_actions=3, num_atoms=3),
        wave(2, 16, 16, 3),
        jnp.linspace(-1.0, 1.0, 3),
    ),
    Example(Build("MinatarQuantileNetwork", num_actions=3, num_atoms=3), wave(2, 16, 16, 3)),
]
