"""Example calls for evojax/policy/mlp.py of evojax 0.2.17."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [Example(Build("MLP", feat_dims=(8, 8), out_dim=3, out_fn="tanh"), wave(2, 8))]
