"""Example calls for the modules of dopamine_rl 4.1.2, by file."""

from typing import Any

import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES: dict[str, list[Example]] = {}

EXAMPLES["dopamine/jax/continuous_networks.py"] = [
    Example(Build("ActorNetwork", action_shape=(3,)), wave(8), jax.random.key(1)),
    Example(Build("CriticNetwork"), wave(2, 8), wave(2, 3)),
    Example(Build("ActorCriticNetwork", action_shape=(3,)), wave(8), jax.random.key(1)),
    Example(Build("PPOActorNetwork", action_shape=(3,)), wave(8), jax.random.key(1)),
    Example(Build("PPOCriticNetwork"), wave(2, 8)),
    Example(Build("PPOActorCriticNetwork", action_shape=(3,)), wave(8), jax.random.key(1)),
]

RAINBOW_OPTIONS: list[dict[str, Any]] = [{}, {"noisy": False}, {"dueling": False}]

EXAMPLES["dopamine/jax/networks.py"] = [
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

EXAMPLES["dopamine/labs/atari_100k/spr_networks.py"] = [
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

EXAMPLES["dopamine/labs/cale/networks.py"] = [
    Example(Build("NatureDQNEncoder"), wave(2, 16, 16, 3)),
    Example(Build("SACImpalaEncoder"), wave(2, 16, 16, 3)),
    Example(Build("SACCALEConvNetwork", action_shape=(3,)), wave(84, 84, 4), jax.random.key(1)),
    Example(Build("PPOCALEConvNetwork", action_shape=(3,)), wave(84, 84, 4), jax.random.key(1)),
]

EXAMPLES["dopamine/labs/environments/minatar/minatar_env.py"] = [
    Example(Build("MinatarDQNNetwork", num_actions=3), wave(2, 16, 16, 3)),
    Example(
        Build("MinatarRainbowNetwork", num_actions=3, num_atoms=3),
        wave(2, 16, 16, 3),
        jnp.linspace(-1.0, 1.0, 3),
    ),
    Example(Build("MinatarQuantileNetwork", num_actions=3, num_atoms=3), wave(2, 16, 16, 3)),
]

EXPERT_OPTIONS: list[dict[str, Any]] = [
    {},
    {"maintain_token_size": False},
    {"noisy": True},
]

MOE_RAINBOW_OPTIONS: list[dict[str, Any]] = [
    {},
    {"noisy": False},
    {"dueling": False},
    {"use_extra_linear_layer": True},
]

EXAMPLES["dopamine/labs/moes/architectures/networks.py"] = [
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
        for other in MOE_RAINBOW_OPTIONS
    ),
]

EXAMPLES["dopamine/labs/moes/architectures/routers.py"] = [
    Example(Build("RandomRouter", num_experts=3), wave(6, 8), key=jax.random.key(1)),
    Example(Build("TopKRouter", k=2, num_experts=3), wave(6, 8), key=jax.random.key(1)),
]

EXAMPLES["dopamine/labs/redo/networks.py"] = [
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

EXAMPLES["dopamine/labs/sac_from_pixels/continuous_networks.py"] = [
    Example(Build("SACEncoderNetwork"), wave(2, 16, 16, 3)),
    Example(Build("SACConvNetwork", action_shape=(3,)), wave(84, 84, 4), jax.random.key(1)),
]
