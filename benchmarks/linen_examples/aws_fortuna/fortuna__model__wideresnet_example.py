"""Example calls for fortuna/model/wideresnet.py of aws_fortuna 0.2.0."""

import functools

import jax
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example, wave

WIDE_RESNET_BLOCK = Build(
    "WideResnetBlock",
    conv=Build.ref("flax.linen.Conv"),
    norm=functools.partial(nn.BatchNorm, use_running_average=True),
    activation=jax.nn.relu,
    filters=8,
)
WIDE_RESNET_GROUP = Build(
    "WideResnetGroup",
    conv=Build.ref("flax.linen.Conv"),
    norm=functools.partial(nn.BatchNorm, use_running_average=True),
    activation=jax.nn.relu,
    blocks_per_group=2,
    filters=8,
)

EXAMPLES = [
    Example(WIDE_RESNET_BLOCK, wave(2, 16, 16, 3), train=False),
    Example(
        WIDE_RESNET_BLOCK, wave(2, 16, 16, 3), train=True, mutable=("batch_stats",), name="training"
    ),
    Example(WIDE_RESNET_GROUP, wave(2, 16, 16, 3), train=False),
    Example(
        WIDE_RESNET_GROUP, wave(2, 16, 16, 3), train=True, mutable=("batch_stats",), name="training"
    ),
    Example(Build("DeepFeatureExtractorSubNet"), wave(2, 16, 16, 3), train=False),
    Example(
        Build("DeepFeatureExtractorSubNet"),
        wave(2, 16, 16, 3),
        train=True,
        mutable=("batch_stats",),
        name="training",
    ),
    Example(Build("OutputSubNet", output_dim=3), wave(2, 8), train=False),
    Example(Build("WideResNet", output_dim=3), wave(84, 84, 4), train=False),
    Example(
        Build("WideResNet", output_dim=3),
        wave(84, 84, 4),
        train=True,
        mutable=("batch_stats",),
        name="training",
    ),
    Example(Build("WideResNetDeepFeatureExtractorSubNetWithSN"), wave(2, 16, 16, 3), train=False),
    Example(
        Build("WideResNetDeepFeatureExtractorSubNetWithSN"),
        wave(2, 16, 16, 3),
        train=True,
        mutable=("batch_stats", "spectral_stats"),
        name="training",
    ),
]
