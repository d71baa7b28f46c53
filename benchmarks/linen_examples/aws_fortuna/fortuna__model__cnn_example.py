"""Example calls for fortuna/model/cnn.py of aws_fortuna 0.2.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("CNN", output_dim=3, dropout_rate=0.1), wave(2, 16, 16, 3), train=False),
    Example(Build("CNNHiddenLayers", dropout_rate=0.1), wave(2, 16, 16, 3), train=False),
    Example(Build("CNNLastLayer", output_dim=3), wave(2, 8), train=False),
]
