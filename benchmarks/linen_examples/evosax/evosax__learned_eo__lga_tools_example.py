"""Example calls for evosax/learned_eo/lga_tools.py of evosax 0.1.6."""

import jax

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("MultiHeadSelfAttention"), wave(2, 8)),
    Example(Build("MultiHeadCrossAttention"), wave(2, 8), wave(2, 8)),
    Example(Build("SamplingAttention", num_att_heads=2, att_hidden_dims=8), wave(2, 8)),
    Example(
        Build("SelectionAttention", num_att_heads=2, att_hidden_dims=8),
        jax.random.key(1),
        wave(4, 8),
        wave(3, 8),
    ),
    Example(Build("MutationAttention", num_att_heads=2, att_hidden_dims=8), wave(2, 8), wave(2, 8)),
]
