"""Example calls for qdax/core/neuroevolution/networks/networks.py of qdax 0.5.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("MLP", layer_sizes=(8, 8)), wave(2, 8)),
    Example(Build("MLP", layer_sizes=(8, 8), bias=False), wave(2, 8)),
    Example(Build("MLPDC", layer_sizes=(8, 8)), wave(2, 8), wave(2, 8)),
    Example(Build("MLPDC", layer_sizes=(8, 8), bias=False), wave(2, 8), wave(2, 8)),
    Example(Build("QModule", hidden_layer_sizes=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(Build("QModuleDC", hidden_layer_sizes=(8, 8)), wave(2, 8), wave(2, 3), wave(2, 8)),
]
