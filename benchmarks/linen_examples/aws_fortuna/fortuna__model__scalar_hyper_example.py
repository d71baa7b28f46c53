"""Example calls for fortuna/model/scalar_hyper.py of aws_fortuna 0.2.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [Example(Build("ScalarHyperparameterModel", output_dim=3, value=0.5), wave(2, 8))]
