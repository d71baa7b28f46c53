"""Example calls for netket/models/gaussian.py of netket 3.23.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [Example(Build("Gaussian"), wave(2, 8))]
