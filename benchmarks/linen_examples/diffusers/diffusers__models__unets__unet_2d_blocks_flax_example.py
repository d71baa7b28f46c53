"""Example calls for diffusers/models/unets/unet_2d_blocks_flax.py of diffusers 0.30.3."""

from typing import Any

from typed_nnx_codegen.verify.examples import Build, Example, wave

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

EXAMPLES = [
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
    Example(
        Build("FlaxDownBlock2D", in_channels=32, out_channels=64, num_layers=2),
        wave(2, 8, 8, 32),
        wave(2, 16),
    ),
    Example(
        Build(
            "FlaxDownBlock2D", in_channels=32, out_channels=64, num_layers=2, add_downsample=False
        ),
        wave(2, 8, 8, 32),
        wave(2, 16),
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
    Example(
        Build(
            "FlaxUpBlock2D", in_channels=64, out_channels=32, prev_output_channel=32, num_layers=2
        ),
        wave(2, 8, 8, 32),
        (wave(2, 8, 8, 64), wave(2, 8, 8, 32)),
        wave(2, 16),
    ),
    Example(
        Build(
            "FlaxUpBlock2D",
            in_channels=64,
            out_channels=32,
            prev_output_channel=32,
            num_layers=2,
            add_upsample=False,
        ),
        wave(2, 8, 8, 32),
        (wave(2, 8, 8, 64), wave(2, 8, 8, 32)),
        wave(2, 16),
    ),
    Example(
        Build("FlaxUNetMidBlock2DCrossAttn", in_channels=32, num_attention_heads=2),
        wave(2, 8, 8, 32),
        wave(2, 16),
        wave(2, 6, 8),
    ),
    Example(
        Build(
            "FlaxUNetMidBlock2DCrossAttn",
            in_channels=32,
            num_attention_heads=2,
            use_linear_projection=True,
        ),
        wave(2, 8, 8, 32),
        wave(2, 16),
        wave(2, 6, 8),
    ),
]
