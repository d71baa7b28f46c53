"""Example calls for diffusers/models/unets/unet_2d_condition_flax.py of diffusers 0.30.3."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example, wave


def tokens(*shape):
    """Return whole numbers from 0 to 4."""
    return jnp.arange(np.prod(shape, dtype=int)).reshape(shape) % 5


UNET_OPTIONS: list[dict[str, Any]] = [
    {},
    {"only_cross_attention": True},
    {"use_linear_projection": True},
]

EXAMPLES = [
    *(
        Example(
            Build(
                "FlaxUNet2DConditionModel",
                up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
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
        )
        for other in UNET_OPTIONS
    ),
]
