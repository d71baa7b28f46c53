"""Example calls for fortuna/model/lenet.py of aws_fortuna 0.2.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("LeNet5", output_dim=3), wave(2, 16, 16, 3)),
    Example(Build("LeNet5DeepFeatureExtractorSubNet"), wave(2, 16, 16, 3)),
    Example(Build("LeNet5OutputSubNet", output_dim=3), wave(2, 8)),
]
