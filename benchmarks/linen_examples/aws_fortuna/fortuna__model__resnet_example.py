"""Example calls for fortuna/model/resnet.py of aws_fortuna 0.2.0."""

import functools

import jax
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example, wave

DEEP_FEATURE_EXTRACTOR_SUB_NET = Build(
    "DeepFeatureExtractorSubNet", stage_sizes=(1, 1), block_cls=Build.ref("ResNetBlock")
)
RES_NET = Build("ResNet", stage_sizes=(1, 1), block_cls=Build.ref("ResNetBlock"), output_dim=3)
RES_NET_DEEP_FEATURE_EXTRACTOR_SUB_NET_WITH_SN = Build(
    "ResNetDeepFeatureExtractorSubNetWithSN", stage_sizes=(1, 1), block_cls=Build.ref("ResNetBlock")
)

EXAMPLES = [
    Example(
        Build(
            "ResNetBlock",
            filters=8,
            conv=Build.ref("flax.linen.Conv"),
            norm=functools.partial(nn.BatchNorm, use_running_average=True),
            activation=jax.nn.relu,
        ),
        wave(2, 16, 16, 3),
    ),
    Example(
        Build(
            "BottleneckResNetBlock",
            filters=8,
            conv=Build.ref("flax.linen.Conv"),
            norm=functools.partial(nn.BatchNorm, use_running_average=True),
            activation=jax.nn.relu,
        ),
        wave(2, 16, 16, 3),
    ),
    Example(DEEP_FEATURE_EXTRACTOR_SUB_NET, wave(2, 16, 16, 3), train=False),
    Example(
        DEEP_FEATURE_EXTRACTOR_SUB_NET,
        wave(2, 16, 16, 3),
        train=True,
        mutable=("batch_stats",),
        name="training",
    ),
    Example(Build("OutputSubNet", output_dim=3), wave(2, 8), train=False),
    Example(RES_NET, wave(2, 16, 16, 3), train=False),
    Example(RES_NET, wave(2, 16, 16, 3), train=True, mutable=("batch_stats",), name="training"),
    Example(RES_NET_DEEP_FEATURE_EXTRACTOR_SUB_NET_WITH_SN, wave(2, 16, 16, 3), train=False),
    Example(
        RES_NET_DEEP_FEATURE_EXTRACTOR_SUB_NET_WITH_SN,
        wave(2, 16, 16, 3),
        train=True,
        mutable=("batch_stats", "spectral_stats"),
        name="training",
    ),
]
