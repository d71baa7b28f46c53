"""Example calls for netket/models/ndm.py of netket 3.23.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("PureRBM"), wave(2, 8), wave(2, 8)),
    Example(Build("PureRBM", use_hidden_bias=False), wave(2, 8), wave(2, 8)),
    Example(Build("PureRBM", use_visible_bias=False), wave(2, 8), wave(2, 8)),
    Example(Build("MixedRBM"), wave(2, 8), wave(2, 8)),
    Example(Build("MixedRBM", use_bias=False), wave(2, 8), wave(2, 8)),
    Example(Build("NDM"), wave(2, 8)),
    Example(Build("NDM", use_hidden_bias=False), wave(2, 8)),
    Example(Build("NDM", use_ancilla_bias=False), wave(2, 8)),
    Example(Build("NDM", use_visible_bias=False), wave(2, 8)),
]
