"""Example calls for examples/linen_design_test/mlp_lazy.py of flax 0.12.8."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [Example(Build("MLP"), wave(2, 8))]
