"""Example calls for sbx/dqn/policies.py of sbx_rl 0.28.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("QNetwork", n_actions=3), wave(2, 8)),
    Example(Build("CnnQNetwork", n_actions=3), wave(2, 3, 64, 64)),
]
