"""Example calls for diffusers/models/resnet_flax.py of diffusers 0.30.3."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
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
