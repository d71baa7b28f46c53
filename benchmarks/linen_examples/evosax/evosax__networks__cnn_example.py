"""Example calls for evosax/networks/cnn.py of evosax 0.1.6."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("CNN"), wave(2, 16, 16, 3)),
    Example(Build("All_CNN_C"), wave(2, 28, 28, 1)),
]
