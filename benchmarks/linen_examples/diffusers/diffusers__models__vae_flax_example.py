"""Example calls for diffusers/models/vae_flax.py of diffusers 0.30.3."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("FlaxUpsample2D", in_channels=8), wave(2, 8, 8, 8)),
    Example(Build("FlaxDownsample2D", in_channels=8), wave(2, 8, 8, 8)),
    Example(Build("FlaxResnetBlock2D", in_channels=32, out_channels=64), wave(2, 8, 8, 32)),
    Example(Build("FlaxAttentionBlock", channels=32, num_head_channels=16), wave(2, 8, 8, 32)),
    Example(
        Build("FlaxDownEncoderBlock2D", in_channels=32, out_channels=64, num_layers=2),
        wave(2, 8, 8, 32),
    ),
    Example(
        Build(
            "FlaxDownEncoderBlock2D",
            in_channels=32,
            out_channels=64,
            num_layers=2,
            add_downsample=False,
        ),
        wave(2, 8, 8, 32),
    ),
    Example(
        Build("FlaxUpDecoderBlock2D", in_channels=32, out_channels=64, num_layers=2),
        wave(2, 8, 8, 32),
    ),
    Example(
        Build(
            "FlaxUpDecoderBlock2D",
            in_channels=32,
            out_channels=64,
            num_layers=2,
            add_upsample=False,
        ),
        wave(2, 8, 8, 32),
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
