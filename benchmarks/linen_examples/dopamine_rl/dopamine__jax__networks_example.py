"""Example calls for dopamine/jax/networks.py of dopamine_rl 4.1.2."""

from typing import Any

import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave

RAINBOW_OPTIONS: list[dict[str, Any]] = [{}, {"noisy": False}, {"dueling": False}]

EXAMPLES = [
    Example(Build("Stack", num_ch=8, num_blocks=2), wave(2, 16, 16, 3)),
    Example(Build("ImpalaEncoder"), wave(2, 16, 16, 3)),
    Example(Build("ImpalaDQNNetwork", num_actions=3), wave(2, 16, 16, 3)),
    Example(Build("NatureDQNNetwork", num_actions=3), wave(2, 16, 16, 3)),
    Example(Build("ClassicControlDQNNetwork", num_actions=3), wave(2, 8)),
    Example(Build("ClassicControlDQNNetwork", num_actions=3, inputs_preprocessed=True), wave(2, 8)),
    Example(
        Build(
            "JaxFourierDQNNetwork",
            num_actions=3,
            min_vals=(-1.0, -1.0, -1.0, -1.0),
            max_vals=(1.0, 1.0, 1.0, 1.0),
            fourier_basis_order=3,
        ),
        wave(4),
    ),
    Example(
        Build("RainbowNetwork", num_actions=3, num_atoms=3),
        wave(2, 16, 16, 3),
        jnp.linspace(-1.0, 1.0, 3),
    ),
    Example(
        Build("ClassicControlRainbowNetwork", num_actions=3, num_atoms=3),
        wave(2, 8),
        jnp.linspace(-1.0, 1.0, 3),
    ),
    Example(
        Build("ImplicitQuantileNetwork", num_actions=3, quantile_embedding_dim=8),
        wave(2, 16, 16, 3),
        4,
        jax.random.key(1),
    ),
    Example(Build("QuantileNetwork", num_actions=3, num_atoms=3), wave(2, 16, 16, 3)),
    Example(Build("NoisyNetwork", rng_key=jax.random.key(1)), wave(8), 5),
    Example(
        Build("NoisyNetwork", rng_key=jax.random.key(1), eval_mode=True),
        wave(8),
        5,
        bias=False,
        name="eval",
    ),
    *(
        Example(
            Build("FullRainbowNetwork", num_actions=3, num_atoms=3, **other),
            wave(2, 16, 16, 3),
            jnp.linspace(-1.0, 1.0, 3),
        )
        for other in RAINBOW_OPTIONS
    ),
    Example(Build("PPOSharedNetwork"), wave(84, 84, 4)),
    Example(Build("PPOActorNetwork", num_actions=3), wave(2, 8)),
    Example(Build("PPOCriticNetwork"), wave(2, 8)),
    Example(
        Build("PPODiscreteActorCriticNetwork", action_shape=(3,)),
        wave(84, 84, 4),
        jax.random.key(1),
    ),
]
