"""Example calls for sbx/td3/policies.py of sbx_rl 0.28.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [Example(Build("Actor", net_arch=(8, 8), action_dim=3), wave(2, 8))]
