"""Example calls for sbx/ppo/policies.py of sbx_rl 0.28.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("Critic", net_arch=(8, 8)), wave(2, 8)),
    Example(Build("Actor", action_dim=3, net_arch=(8, 8)), wave(2, 8)),
]
