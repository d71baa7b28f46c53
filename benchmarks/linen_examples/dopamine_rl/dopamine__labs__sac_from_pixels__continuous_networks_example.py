"""Example calls for dopamine/labs/sac_from_pixels/continuous_networks.py of dopamine_rl 4.1.2."""

import jax

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("SACEncoderNetwork"), wave(2, 16, 16, 3)),
    Example(Build("SACConvNetwork", action_shape=(3,)), wave(84, 84, 4), jax.random.key(1)),
]
