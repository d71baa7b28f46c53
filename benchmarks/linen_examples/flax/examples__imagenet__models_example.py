"""Example calls for examples/imagenet/models.py of flax 0.12.8."""

from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(
        Build(
            "ResNetBlock",
            filters=8,
            conv=Build.ref("flax.linen.Conv"),
            norm=Build.ref("flax.linen.LayerNorm"),
            act=nn.relu,
            strides=(2, 2),
        ),
        wave(2, 8, 8, 4),
    ),
    Example(
        Build(
            "BottleneckResNetBlock",
            filters=8,
            conv=Build.ref("flax.linen.Conv"),
            norm=Build.ref("flax.linen.LayerNorm"),
            act=nn.relu,
            strides=(2, 2),
        ),
        wave(2, 8, 8, 4),
    ),
    Example(
        Build(
            "ResNet",
            stage_sizes=(1, 2),
            block_cls=Build.ref("ResNetBlock"),
            num_classes=5,
            num_filters=8,
        ),
        wave(2, 32, 32, 3),
        train=False,
    ),
    Example(
        Build(
            "ResNet",
            stage_sizes=(1, 2),
            block_cls=Build.ref("BottleneckResNetBlock"),
            num_classes=5,
            num_filters=8,
        ),
        wave(2, 32, 32, 3),
        train=False,
        name="bottleneck",
    ),
]
