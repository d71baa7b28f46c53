"""Example calls for fortuna/model/utils/random_features.py of aws_fortuna 0.2.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("RandomFeatureGaussianProcess", features=8), wave(2, 8)),
    Example(Build("RandomFourierFeatures", features=8), wave(2, 8)),
    Example(Build("LaplaceRandomFeatureCovariance", hidden_features=8), wave(2, 8)),
]
