"""Example calls for fortuna/model_editor/base.py of aws_fortuna 0.2.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [Example(Build("ModelEditor"), wave(2, 8), wave(2, 8), wave(2, 8), wave(2, 8))]
