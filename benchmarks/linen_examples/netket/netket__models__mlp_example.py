"""Example calls for netket/models/mlp.py of netket 3.23.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("MLP"), wave(2, 8)),
    Example(Build("MLP", use_output_bias=True), wave(2, 8)),
]
