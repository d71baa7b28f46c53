"""Example calls for the modules of jax_resnet 0.0.4, by file."""

from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES: dict[str, list[Example]] = {}

EXAMPLES["jax_resnet/common.py"] = [
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

EXAMPLES["jax_resnet/resnet.py"] = [
    Example(Build("ResNetStem"), wave(2, 16, 16, 3)),
    Example(Build("ResNetDStem"), wave(2, 16, 16, 3)),
    Example(Build("ResNetSkipConnection", strides=(1, 1)), wave(2, 8), (2, 8)),
    Example(Build("ResNetSkipConnection", strides=(2, 2)), wave(2, 8, 8, 3), (2, 4, 4, 6)),
    Example(Build("ResNetDSkipConnection", strides=(1, 1)), wave(2, 8), (2, 8)),
    Example(Build("ResNetDSkipConnection", strides=(2, 2)), wave(2, 8, 8, 3), (2, 4, 4, 6)),
    Example(Build("ResNeStSkipConnection", strides=(2, 2)), wave(2, 8, 8, 3), (2, 4, 4, 6)),
    Example(
        Build("ResNetBlock", n_hidden=8, strides=(2, 2)),
        wave(2, 16, 16, 3),
        mutable=("batch_stats",),
        name="in training",
    ),
    Example(
        Build("ResNetDBottleneckBlock", n_hidden=8, strides=(2, 2)),
        wave(2, 16, 16, 32),
        mutable=("batch_stats",),
        name="in training",
    ),
    Example(Build("ResNetBlock", n_hidden=8), wave(2, 16, 16, 3)),
    Example(Build("ResNetBottleneckBlock", n_hidden=8), wave(2, 16, 16, 3)),
    Example(Build("ResNetDBlock", n_hidden=8), wave(2, 16, 16, 3)),
    Example(Build("ResNetDBottleneckBlock", n_hidden=8), wave(2, 16, 16, 3)),
    Example(Build("ResNeStBottleneckBlock", n_hidden=8), wave(2, 16, 16, 3)),
]

EXAMPLES["jax_resnet/splat.py"] = [
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
