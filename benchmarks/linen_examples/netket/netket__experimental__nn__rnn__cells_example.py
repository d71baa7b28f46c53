"""Example calls for netket/experimental/nn/rnn/cells.py of netket 3.23.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("RNNCell", features=8), wave(2, 8), wave(2, 8), wave(2, 8)),
    Example(Build("LSTMCell", features=8), wave(2, 8), wave(2, 8), wave(2, 8)),
    Example(Build("GRU1DCell", features=8), wave(2, 8), wave(2, 8), wave(2, 8)),
]
