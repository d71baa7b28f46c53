"""Example calls for evosax/learned_eo/evotf_tools/attention.py of evosax 0.1.6."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("MultiheadAttention", embed_dim=8, num_heads=2), wave(2, 6, 8), train=False),
    Example(
        Build("MultiheadAttention", embed_dim=8, num_heads=2, use_bias=True),
        wave(2, 6, 8),
        train=False,
    ),
    Example(
        Build(
            "AttentionBlock",
            num_heads=2,
            embed_dim=8,
            dropout_prob=0.1,
            use_bias=True,
            out_att_maps=False,
        ),
        wave(2, 6, 8),
        train=False,
    ),
    Example(
        Build("AttentionEncoder", embed_dim=2, num_heads=2, num_layers=2), wave(2, 8), train=False
    ),
    Example(
        Build("AttentionEncoder", embed_dim=2, num_heads=2, num_layers=2, use_bias=True),
        wave(2, 8),
        train=False,
    ),
]
