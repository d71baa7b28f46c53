"""Example calls for the modules of brax 0.14.2, by file."""

from typing import Any

import jax
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example, variants, wave

EXAMPLES: dict[str, list[Example]] = {}

MLP_OPTIONS: list[dict[str, Any]] = [{}, {"bias": False}, {"layer_norm": True}]

VISION_MLP_OPTIONS: list[dict[str, Any]] = [
    {},
    {"layer_norm": True},
    {"policy_head": False},
    {"cnn_use_bias": False},
]

VISION_POLICY_WITH_STD_OPTIONS: list[dict[str, Any]] = [
    {},
    {"layer_norm": True},
    {"state_dependent_std": True},
    {"cnn_use_bias": False},
]

EXAMPLES["brax/training/networks.py"] = [
    Example(
        Build("MLPHead", layer_sizes=(8, 8)),
        {"proprio": wave(2, 5), "latent_1": wave(2, 6), "latent_2": wave(2, 6)},
    ),
    Example(
        Build("MLPHead", layer_sizes=(8, 8), layer_norm=True),
        {"proprio": wave(2, 5), "latent_1": wave(2, 6), "latent_2": wave(2, 6)},
    ),
    *(Example(Build("MLP", layer_sizes=(8, 8), **other), wave(2, 8)) for other in MLP_OPTIONS),
    Example(
        Build("MLP", layer_sizes=(8, 6, 4), layer_norm=True, activate_final=True),
        wave(2, 5),
        name="norm and final",
    ),
    Example(
        Build("MLP", layer_sizes=(8, 6, 4), layer_norm=True, bias=False), wave(2, 5), name="norm"
    ),
    Example(
        Build("SNMLP", layer_sizes=(8, 8)), wave(2, 8), mutable=("sing_vec",), rngs=("sing_vec",)
    ),
    Example(
        Build("SNMLP", layer_sizes=(8, 8), bias=False),
        wave(2, 8),
        mutable=("sing_vec",),
        rngs=("sing_vec",),
    ),
    *variants(
        Example(
            Build(
                "CNN", num_filters=(8, 8), kernel_sizes=((3, 3), (3, 3)), strides=((3, 3), (3, 3))
            ),
            wave(2, 16, 16, 3),
        ),
        {"use_bias": False},
    ),
    *(
        Example(
            Build("VisionMLP", layer_sizes=(8, 8), **other),
            {"pixels/a": wave(2, 16, 16, 3), "pixels/b": wave(2, 16, 16, 3), "state": wave(2, 5)},
        )
        for other in VISION_MLP_OPTIONS
    ),
    Example(
        Build(
            "VisionMLP",
            layer_sizes=(8, 3),
            state_obs_key="state",
            normalise_channels=True,
            layer_norm=True,
            cnn_global_pool="none",
        ),
        {"pixels/a": wave(2, 16, 16, 3), "pixels/b": wave(2, 16, 16, 3), "state": wave(2, 5)},
        name="normalised",
    ),
    *(
        Example(
            Build("VisionPolicyWithStd", param_size=8, hidden_layer_sizes=(8, 8), **other),
            {"pixels/a": wave(2, 16, 16, 3), "pixels/b": wave(2, 16, 16, 3), "state": wave(2, 5)},
        )
        for other in VISION_POLICY_WITH_STD_OPTIONS
    ),
    Example(Build("Param")),
    Example(Build("LogParam")),
    *variants(
        Example(
            Build(
                "PolicyModuleWithStd",
                param_size=8,
                hidden_layer_sizes=(8, 8),
                activation=jax.nn.relu,
                kernel_init=jax.nn.initializers.normal(0.5),
                layer_norm=False,
                noise_std_type="log",
                init_noise_std=0.1,
            ),
            wave(2, 8),
        ),
        {"state_dependent_std": True},
    ),
    Example(
        Build(
            "PolicyModuleWithStd",
            param_size=4,
            hidden_layer_sizes=(8, 8),
            activation=nn.tanh,
            kernel_init=nn.initializers.lecun_uniform(),
            layer_norm=True,
            noise_std_type="scalar",
            init_noise_std=0.3,
            state_dependent_std=True,
        ),
        wave(2, 8),
        name="state dependent",
    ),
    Example(
        Build(
            "DistributionalCritic",
            hidden_layer_sizes=(8, 8),
            activation=jax.nn.relu,
            kernel_init=jax.nn.initializers.normal(0.5),
        ),
        wave(2, 8),
    ),
]

EXAMPLES["brax/training/spectral_norm.py"] = [
    Example(Build("SNDense", features=8), wave(2, 8), mutable=("sing_vec",), rngs=("sing_vec",)),
    Example(
        Build("SNDense", features=8, use_bias=False),
        wave(2, 8),
        mutable=("sing_vec",),
        rngs=("sing_vec",),
    ),
]
