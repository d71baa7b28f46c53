"""Example calls for dopamine/labs/redo/networks.py of dopamine_rl 4.1.2."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("IdentityLayer"), wave(2, 8)),
    Example(Build("ScalableNatureDQNNetwork", num_actions=3), wave(2, 16, 16, 3)),
    Example(Build("Stack", num_ch=8), wave(2, 16, 16, 3)),
    Example(
        Build("ScalableRainbowNetwork", num_actions=3, num_atoms=3, width=8),
        wave(2, 16, 16, 3),
        jnp.linspace(-1.0, 1.0, 3),
    ),
    Example(
        Build("FullRainbowNetwork", num_actions=3, num_atoms=3),
        wave(2, 16, 16, 3),
        jnp.linspace(-1.0, 1.0, 3),
    ),
    Example(
        Build("FullRainbowNetwork", num_actions=3, num_atoms=3, dueling=False),
        wave(2, 16, 16, 3),
        jnp.linspace(-1.0, 1.0, 3),
    ),
]
