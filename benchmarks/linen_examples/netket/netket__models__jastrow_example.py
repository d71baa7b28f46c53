"""Example calls for netket/models/jastrow.py of netket 3.23.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [Example(Build("Jastrow"), wave(2, 8))]
