"""Example calls for netket/nn/blocks/deepset.py of netket 3.23.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [Example(Build("DeepSetMLP"), wave(2, 8))]
