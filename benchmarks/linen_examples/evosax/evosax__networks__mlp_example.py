"""Example calls for evosax/networks/mlp.py of evosax 0.1.6."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [Example(Build("MLP"), wave(2, 8))]
