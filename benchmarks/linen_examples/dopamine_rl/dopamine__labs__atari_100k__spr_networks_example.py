"""Example calls for dopamine/labs/atari_100k/spr_networks.py of dopamine_rl 4.1.2."""

import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("NoisyNetwork"), wave(2, 8), jax.random.key(1)),
    Example(Build("NoStatsBatchNorm"), wave(2, 8)),
    Example(Build("NoStatsBatchNorm", use_bias=False), wave(2, 8)),
    Example(Build("NoStatsBatchNorm", use_scale=False), wave(2, 8)),
    Example(
        Build("ConvTMCell", num_actions=3, latent_dim=8, renormalize=True),
        wave(6, 6, 8),
        jnp.int32(1),
    ),
    Example(Build("RainbowCNN"), wave(2, 16, 16, 3)),
    Example(
        Build("TransitionModel", num_actions=3, latent_dim=8, renormalize=True),
        wave(6, 6, 8),
        jnp.array([0, 1, 2]),
    ),
    Example(
        Build(
            "SPRNetwork",
            num_actions=3,
            num_atoms=3,
            noisy=False,
            dueling=False,
            distributional=False,
        ),
        wave(2, 16, 16, 3),
        jnp.linspace(-1.0, 1.0, 3),
    ),
]
