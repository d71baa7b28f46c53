"""Example calls for fortuna/model/linear.py of aws_fortuna 0.2.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [Example(Build("LinearModel", output_dim=3), wave(2, 8))]
