"""Example calls for jax_resnet/resnet.py of jax_resnet 0.0.4."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
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
