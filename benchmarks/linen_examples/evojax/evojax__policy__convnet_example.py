"""Example calls for evojax/policy/convnet.py of evojax 0.2.17."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [Example(Build("CNN"), wave(2, 16, 16, 3))]
