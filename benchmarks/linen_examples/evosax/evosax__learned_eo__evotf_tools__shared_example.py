"""Example calls for evosax/learned_eo/evotf_tools/shared.py of evosax 0.1.6."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("MLP", embed_dim=8, dropout_prob=0.1, use_bias=True), wave(2, 8), train=False),
    Example(Build("PositionalEncoding", d_model=8), wave(2, 6, 8)),
]
