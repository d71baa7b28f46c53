"""Example calls for jax_resnet/splat.py of jax_resnet 0.0.4."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(
        Build("SplAtConv2d", channels=8, kernel_size=(3, 3), padding=((1, 1), (1, 1))),
        wave(2, 6, 6, 8),
        mutable=("batch_stats",),
        name="in training",
    ),
    Example(Build("SplAtConv2d", channels=8, kernel_size=(2, 2), radix=1), wave(2, 6, 6, 8)),
    Example(Build("SplAtConv2d", channels=8, kernel_size=(2, 2)), wave(2, 6, 6, 8)),
    Example(
        Build("SplAtConv2d", channels=8, kernel_size=(2, 2), match_reference=True), wave(2, 6, 6, 8)
    ),
]
