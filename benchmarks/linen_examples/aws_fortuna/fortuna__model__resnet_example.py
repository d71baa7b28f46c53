"""Example calls for fortuna/model/resnet.py of aws_fortuna 0.2.0."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


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
    Example(
        Build("DeepFeatureExtractorSubNet", stage_sizes=(1, 1), block_cls=Build.ref("ResNetBlock")),
        wave(2, 16, 16, 3),
        train=False,
    ),
    Example(
        Build("DeepFeatureExtractorSubNet", stage_sizes=(1, 1), block_cls=Build.ref("ResNetBlock")),
        wave(2, 16, 16, 3),
        train=True,
        mutable=("batch_stats",),
        name="training",
    ),
    Example(Build("OutputSubNet", output_dim=3), wave(2, 8), train=False),
    Example(
        Build("ResNet", stage_sizes=(1, 1), block_cls=Build.ref("ResNetBlock"), output_dim=3),
        wave(2, 16, 16, 3),
        train=False,
    ),
    Example(
        Build("ResNet", stage_sizes=(1, 1), block_cls=Build.ref("ResNetBlock"), output_dim=3),
        wave(2, 16, 16, 3),
        train=True,
        mutable=("batch_stats",),
        name="training",
    ),
    Example(
        Build(
            "ResNetDeepFeatureExtractorSubNetWithSN",
            stage_sizes=(1, 1),
            block_cls=Build.ref("ResNetBlock"),
        ),
        wave(2, 16, 16, 3),
        train=False,
    ),
    Example(
        Build(
            "ResNetDeepFeatureExtractorSubNetWithSN",
            stage_sizes=(1, 1),
            block_cls=Build.ref("ResNetBlock"),
        ),
        wave(2, 16, 16, 3),
        train=True,
        mutable=(
            "batch_stats",
            "spectral_stats",
        ),
        name="training",
    ),
]
