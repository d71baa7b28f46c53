"""Example calls for the modules of diffusers 0.30.3, by file."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example, variants, wave

EXAMPLES: dict[str, list[Example]] = {}

TRANSFORMER_OPTIONS: list[dict[str, Any]] = [
    {},
    {"use_linear_projection": True},
    {"only_cross_attention": True},
]

EXAMPLES["diffusers/models/attention_flax.py"] = [
    Example(Build("FlaxAttention", query_dim=8), wave(2, 6, 8)),
    Example(
        Build("FlaxAttention", query_dim=8, use_memory_efficient_attention=True), wave(2, 6, 8)
    ),
    Example(
        Build("FlaxBasicTransformerBlock", dim=8, n_heads=2, d_head=4), wave(2, 6, 8), wave(2, 6, 8)
    ),
    *(
        Example(
            Build("FlaxTransformer2DModel", in_channels=32, n_heads=2, d_head=16, **other),
            wave(2, 8, 8, 32),
            wave(2, 6, 8),
        )
        for other in TRANSFORMER_OPTIONS
    ),
    Example(
        Build(
            "FlaxTransformer2DModel",
            in_channels=32,
            n_heads=2,
            d_head=16,
            use_linear_projection=True,
            only_cross_attention=True,
            depth=2,
        ),
        wave(2, 8, 8, 32),
        wave(2, 6, 32),
        name="linear",
    ),
    Example(Build("FlaxFeedForward", dim=8), wave(2, 6, 8)),
    Example(Build("FlaxGEGLU", dim=8), wave(2, 6, 8)),
]


def tokens(*shape):
    """Return whole numbers from 0 to 4."""
    return jnp.arange(np.prod(shape, dtype=int)).reshape(shape) % 5


CONTROL_NET_OPTIONS: list[dict[str, Any]] = [
    {},
    {"only_cross_attention": True},
    {"use_linear_projection": True},
]

EXAMPLES["diffusers/models/controlnet_flax.py"] = [
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

EXAMPLES["diffusers/models/embeddings_flax.py"] = [
    Example(Build("FlaxTimestepEmbedding"), wave(2, 8)),
    Example(Build("FlaxTimesteps"), wave(2)),
]

EXAMPLES["diffusers/models/resnet_flax.py"] = [
    Example(Build("FlaxUpsample2D", out_channels=8), wave(2, 8, 8, 8)),
    Example(Build("FlaxDownsample2D", out_channels=8), wave(2, 6, 8)),
    Example(
        Build("FlaxResnetBlock2D", in_channels=32, out_channels=64), wave(2, 8, 8, 32), wave(2, 16)
    ),
    Example(
        Build("FlaxResnetBlock2D", in_channels=32, out_channels=32),
        wave(2, 8, 8, 32),
        wave(2, 16),
        name="no shortcut",
    ),
]

DOWN_BLOCK_OPTIONS: list[dict[str, Any]] = [
    {},
    {"add_downsample": False},
    {"use_linear_projection": True},
    {"only_cross_attention": True},
]

UP_BLOCK_OPTIONS: list[dict[str, Any]] = [
    {},
    {"add_upsample": False},
    {"use_linear_projection": True},
    {"only_cross_attention": True},
]

EXAMPLES["diffusers/models/unets/unet_2d_blocks_flax.py"] = [
    *(
        Example(
            Build(
                "FlaxCrossAttnDownBlock2D",
                in_channels=32,
                out_channels=64,
                num_attention_heads=2,
                num_layers=2,
                **other,
            ),
            wave(2, 8, 8, 32),
            wave(2, 16),
            wave(2, 6, 8),
        )
        for other in DOWN_BLOCK_OPTIONS
    ),
    *variants(
        Example(
            Build("FlaxDownBlock2D", in_channels=32, out_channels=64, num_layers=2),
            wave(2, 8, 8, 32),
            wave(2, 16),
        ),
        {"add_downsample": False},
    ),
    *(
        Example(
            Build(
                "FlaxCrossAttnUpBlock2D",
                in_channels=64,
                out_channels=32,
                prev_output_channel=32,
                num_layers=2,
                num_attention_heads=2,
                **other,
            ),
            wave(2, 8, 8, 32),
            (wave(2, 8, 8, 64), wave(2, 8, 8, 32)),
            wave(2, 16),
            wave(2, 6, 8),
        )
        for other in UP_BLOCK_OPTIONS
    ),
    *variants(
        Example(
            Build(
                "FlaxUpBlock2D",
                in_channels=64,
                out_channels=32,
                prev_output_channel=32,
                num_layers=2,
            ),
            wave(2, 8, 8, 32),
            (wave(2, 8, 8, 64), wave(2, 8, 8, 32)),
            wave(2, 16),
        ),
        {"add_upsample": False},
    ),
    *variants(
        Example(
            Build("FlaxUNetMidBlock2DCrossAttn", in_channels=32, num_attention_heads=2),
            wave(2, 8, 8, 32),
            wave(2, 16),
            wave(2, 6, 8),
        ),
        {"use_linear_projection": True},
    ),
]

UNET_OPTIONS: list[dict[str, Any]] = [
    {},
    {"only_cross_attention": True},
    {"use_linear_projection": True},
]

EXAMPLES["diffusers/models/unets/unet_2d_condition_flax.py"] = [
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

EXAMPLES["diffusers/models/vae_flax.py"] = [
    Example(Build("FlaxUpsample2D", in_channels=8), wave(2, 8, 8, 8)),
    Example(Build("FlaxDownsample2D", in_channels=8), wave(2, 8, 8, 8)),
    Example(Build("FlaxResnetBlock2D", in_channels=32, out_channels=64), wave(2, 8, 8, 32)),
    Example(Build("FlaxAttentionBlock", channels=32, num_head_channels=16), wave(2, 8, 8, 32)),
    *variants(
        Example(
            Build("FlaxDownEncoderBlock2D", in_channels=32, out_channels=64, num_layers=2),
            wave(2, 8, 8, 32),
        ),
        {"add_downsample": False},
    ),
    *variants(
        Example(
            Build("FlaxUpDecoderBlock2D", in_channels=32, out_channels=64, num_layers=2),
            wave(2, 8, 8, 32),
        ),
        {"add_upsample": False},
    ),
    Example(Build("FlaxUNetMidBlock2D", in_channels=32), wave(2, 8, 8, 32)),
    Example(
        Build(
            "FlaxEncoder",
            block_out_channels=(32, 64),
            down_block_types=("DownEncoderBlock2D", "DownEncoderBlock2D"),
            layers_per_block=1,
            double_z=True,
        ),
        wave(2, 16, 16, 3),
    ),
    Example(
        Build(
            "FlaxDecoder",
            block_out_channels=(32, 64),
            up_block_types=("UpDecoderBlock2D", "UpDecoderBlock2D"),
            layers_per_block=1,
        ),
        wave(2, 4, 4, 3),
    ),
    Example(
        Build(
            "FlaxAutoencoderKL",
            block_out_channels=(32, 64),
            down_block_types=("DownEncoderBlock2D", "DownEncoderBlock2D"),
            up_block_types=("UpDecoderBlock2D", "UpDecoderBlock2D"),
            sample_size=16,
        ),
        wave(2, 3, 16, 16),
    ),
]


def config(width, projection):
    """Return a small configuration."""
    vision = {
        "hidden_size": width,
        "intermediate_size": 12,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": 8,
        "patch_size": 4,
    }
    return Build("transformers.CLIPConfig", vision_config=vision, projection_dim=projection)


EXAMPLES["diffusers/pipelines/stable_diffusion/safety_checker_flax.py"] = [
    Example(Build("FlaxStableDiffusionSafetyCheckerModule", config(8, 6)), wave(2, 8, 8, 3)),
    Example(Build("FlaxStableDiffusionSafetyCheckerModule", config(6, 4)), wave(2, 8, 8, 3)),
]
