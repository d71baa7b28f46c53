"""Example calls for dopamine/jax/continuous_networks.py of dopamine_rl 4.1.2."""

import jax

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("ActorNetwork", action_shape=(3,)), wave(8), jax.random.key(1)),
    Example(Build("CriticNetwork"), wave(2, 8), wave(2, 3)),
    Example(Build("ActorCriticNetwork", action_shape=(3,)), wave(8), jax.random.key(1)),
    Example(Build("PPOActorNetwork", action_shape=(3,)), wave(8), jax.random.key(1)),
    Example(Build("PPOCriticNetwork"), wave(2, 8)),
    Example(Build("PPOActorCriticNetwork", action_shape=(3,)), wave(8), jax.random.key(1)),
]
