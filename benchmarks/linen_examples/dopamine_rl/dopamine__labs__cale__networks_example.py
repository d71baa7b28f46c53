"""Example calls for dopamine/labs/cale/networks.py of dopamine_rl 4.1.2."""

import jax

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("NatureDQNEncoder"), wave(2, 16, 16, 3)),
    Example(Build("SACImpalaEncoder"), wave(2, 16, 16, 3)),
    Example(Build("SACCALEConvNetwork", action_shape=(3,)), wave(84, 84, 4), jax.random.key(1)),
    Example(Build("PPOCALEConvNetwork", action_shape=(3,)), wave(84, 84, 4), jax.random.key(1)),
]
