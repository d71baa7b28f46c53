"""Example calls for diffusers/models/controlnet_flax.py of diffusers 0.30.3."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example, wave


def tokens(*shape):
    """Return whole numbers from 0 to 4."""
    return jnp.arange(np.prod(shape, dtype=int)).reshape(shape) % 5


CONTROL_NET_OPTIONS: list[dict[str, Any]] = [
    {},
    {"only_cross_attention": True},
    {"use_linear_projection": True},
]

EXAMPLES = [
    Example(
        Build(
            "FlaxControlNetConditioningEmbedding",
            conditioning_embedding_channels=8,
            block_out_channels=(8, 16),
        ),
        wave(2, 64, 64, 3),
    ),
    *(
        Example(
            Build(
                "FlaxControlNetModel",
                conditioning_embedding_out_channels=(8, 8),
                block_out_channels=(32, 64),
                down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
                layers_per_block=1,
                attention_head_dim=2,
                cross_attention_dim=8,
                sample_size=8,
                **other,
            ),
            wave(2, 4, 8, 8),
            tokens(2),
            wave(2, 6, 8),
            wave(2, 3, 16, 16),
        )
        for other in CONTROL_NET_OPTIONS
    ),
]
