"""Example calls for dopamine/labs/moes/architectures/networks.py of dopamine_rl 4.1.2."""

from typing import Any

import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXPERT_OPTIONS: list[dict[str, Any]] = [
    {},
    {"maintain_token_size": False},
    {"noisy": True},
]
RAINBOW_OPTIONS: list[dict[str, Any]] = [
    {},
    {"noisy": False},
    {"dueling": False},
    {"use_extra_linear_layer": True},
]

EXAMPLES = [
    *(
        Example(
            Build("BigExpertModel", expert_hidden_size=8, rng_key=jax.random.key(0), **other),
            wave(2, 6, 8),
        )
        for other in EXPERT_OPTIONS
    ),
    Example(Build("ImpalaMoE", num_actions=3), wave(2, 6, 8), key=wave(2, 8)),
    Example(
        Build("ImpalaMoE", num_actions=3, use_extra_linear_layer=True),
        wave(2, 6, 8),
        key=wave(2, 8),
    ),
    Example(Build("NatureDQNMoE", num_actions=3), wave(2, 6, 8), key=wave(2, 8)),
    Example(
        Build("NatureDQNMoE", num_actions=3, use_extra_linear_layer=True),
        wave(2, 6, 8),
        key=wave(2, 8),
    ),
    Example(Build("RainbowCNNet"), wave(2, 16, 16, 3)),
    *(
        Example(
            Build("FullRainbowMoENetwork", num_actions=3, num_atoms=5, nn_scale=1, **other),
            wave(84, 84, 4),
            jnp.linspace(-1.0, 1.0, 5),
            key=jax.random.key(1),
        )
        for other in RAINBOW_OPTIONS
    ),
]
