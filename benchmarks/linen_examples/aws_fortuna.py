"""Example calls for the modules of aws_fortuna 0.2.0, by file."""

import functools
from typing import Any

import jax
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES: dict[str, list[Example]] = {}
TRAINING: dict[str, Any] = {"train": True, "mutable": ("batch_stats",), "name": "training"}

EXAMPLES["fortuna/model/cnn.py"] = [
    Example(Build("CNN", output_dim=3, dropout_rate=0.1), wave(2, 16, 16, 3), train=False),
    Example(Build("CNNHiddenLayers", dropout_rate=0.1), wave(2, 16, 16, 3), train=False),
    Example(Build("CNNLastLayer", output_dim=3), wave(2, 8), train=False),
]

EXAMPLES["fortuna/model/constant.py"] = [Example(Build("ConstantModel", output_dim=3), wave(2, 8))]

EXAMPLES["fortuna/model/lenet.py"] = [
    Example(Build("LeNet5", output_dim=3), wave(2, 16, 16, 3)),
    Example(Build("LeNet5DeepFeatureExtractorSubNet"), wave(2, 16, 16, 3)),
    Example(Build("LeNet5OutputSubNet", output_dim=3), wave(2, 8)),
]

EXAMPLES["fortuna/model/linear.py"] = [Example(Build("LinearModel", output_dim=3), wave(2, 8))]

EXAMPLES["fortuna/model/mlp.py"] = [
    Example(Build("MLP", output_dim=3), wave(2, 8)),
    Example(Build("DeepResidualNet", output_dim=3), wave(2, 8)),
    Example(
        Build(
            "MLPDeepFeatureExtractorSubNet", widths=(8, 8), activations=(jax.nn.relu, jax.nn.tanh)
        ),
        wave(2, 8),
    ),
    Example(
        Build(
            "DeepResidualFeatureExtractorSubNet",
            widths=(8, 8),
            activations=(jax.nn.relu, jax.nn.tanh),
        ),
        wave(2, 8),
    ),
    Example(Build("MLPOutputSubNet", output_dim=3), wave(2, 8)),
]

DEEP_FEATURE_EXTRACTOR_SUB_NET = Build(
    "DeepFeatureExtractorSubNet", stage_sizes=(1, 1), block_cls=Build.ref("ResNetBlock")
)

RES_NET = Build("ResNet", stage_sizes=(1, 1), block_cls=Build.ref("ResNetBlock"), output_dim=3)

RES_NET_DEEP_FEATURE_EXTRACTOR_SUB_NET_WITH_SN = Build(
    "ResNetDeepFeatureExtractorSubNetWithSN", stage_sizes=(1, 1), block_cls=Build.ref("ResNetBlock")
)

EXAMPLES["fortuna/model/resnet.py"] = [
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
    Example(DEEP_FEATURE_EXTRACTOR_SUB_NET, wave(2, 16, 16, 3), **TRAINING),
    Example(Build("OutputSubNet", output_dim=3), wave(2, 8), train=False),
    Example(RES_NET, wave(2, 16, 16, 3), train=False),
    Example(
        RES_NET,
        wave(2, 16, 16, 3),
        **TRAINING,
    ),
    Example(RES_NET_DEEP_FEATURE_EXTRACTOR_SUB_NET_WITH_SN, wave(2, 16, 16, 3), train=False),
    Example(
        RES_NET_DEEP_FEATURE_EXTRACTOR_SUB_NET_WITH_SN,
        wave(2, 16, 16, 3),
        train=True,
        mutable=("batch_stats", "spectral_stats"),
        name="training",
    ),
]

EXAMPLES["fortuna/model/scalar_constant.py"] = [
    Example(Build("ScalarConstantModel", output_dim=3), wave(2, 8))
]

EXAMPLES["fortuna/model/scalar_hyper.py"] = [
    Example(Build("ScalarHyperparameterModel", output_dim=3, value=0.5), wave(2, 8))
]

EXAMPLES["fortuna/model/utils/random_features.py"] = [
    Example(Build("RandomFeatureGaussianProcess", features=8), wave(2, 8)),
    Example(Build("RandomFourierFeatures", features=8), wave(2, 8)),
    Example(Build("LaplaceRandomFeatureCovariance", hidden_features=8), wave(2, 8)),
]

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

EXAMPLES["fortuna/model/wideresnet.py"] = [
    Example(WIDE_RESNET_BLOCK, wave(2, 16, 16, 3), train=False),
    Example(WIDE_RESNET_BLOCK, wave(2, 16, 16, 3), **TRAINING),
    Example(WIDE_RESNET_GROUP, wave(2, 16, 16, 3), train=False),
    Example(WIDE_RESNET_GROUP, wave(2, 16, 16, 3), **TRAINING),
    Example(Build("DeepFeatureExtractorSubNet"), wave(2, 16, 16, 3), train=False),
    Example(Build("DeepFeatureExtractorSubNet"), wave(2, 16, 16, 3), **TRAINING),
    Example(Build("OutputSubNet", output_dim=3), wave(2, 8), train=False),
    Example(Build("WideResNet", output_dim=3), wave(84, 84, 4), train=False),
    Example(Build("WideResNet", output_dim=3), wave(84, 84, 4), **TRAINING),
    Example(Build("WideResNetDeepFeatureExtractorSubNetWithSN"), wave(2, 16, 16, 3), train=False),
    Example(
        Build("WideResNetDeepFeatureExtractorSubNetWithSN"),
        wave(2, 16, 16, 3),
        train=True,
        mutable=("batch_stats", "spectral_stats"),
        name="training",
    ),
]

EXAMPLES["fortuna/model_editor/base.py"] = [
    Example(Build("ModelEditor"), wave(2, 8), wave(2, 8), wave(2, 8), wave(2, 8))
]

EXAMPLES["fortuna/output_calibrator/classification.py"] = [
    Example(Build("ClassificationTemperatureScaler"), wave(2, 8))
]

EXAMPLES["fortuna/output_calibrator/regression.py"] = [
    Example(Build("RegressionTemperatureScaler"), wave(2, 8))
]
