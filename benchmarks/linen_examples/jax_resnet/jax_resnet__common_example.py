"""Example calls for jax_resnet/common.py of jax_resnet 0.0.4."""

from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("ConvBlock", n_filters=8), wave(2, 16, 16, 3)),
    Example(Build("ConvBlock", n_filters=8, force_conv_bias=True), wave(2, 16, 16, 3)),
    Example(
        Build("ConvBlock", n_filters=8),
        wave(2, 16, 16, 3),
        mutable=("batch_stats",),
        name="in training",
    ),
    Example(
        Build(
            "Sequential",
            layers=[Build("flax.linen.Dense", 8), nn.relu, Build("flax.linen.Dense", 3)],
        ),
        wave(2, 8),
    ),
]
