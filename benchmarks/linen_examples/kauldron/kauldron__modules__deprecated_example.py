"""Example calls for kauldron/modules/deprecated.py of kauldron 1.4.2."""

from typed_nnx_codegen.verify.examples import Build, Example, wave


def encoder(width, patch):
    """Return an encoder of two blocks."""
    return Build(
        "VitEncoder",
        patch_size=(patch, patch),
        hidden_size=width,
        num_layers=2,
        block_template=Build("ParallelSelfAttentionBlock", mlp_size=12, num_heads=2, qk_size=8),
    )


EXAMPLES = [
    Example(encoder(8, 2), wave(2, 8, 8, 3)),
    Example(encoder(8, 2), wave(3, 8, 8, 3)),
    Example(Build("Vit", encoder=encoder(8, 2), num_classes=5), wave(2, 8, 8, 3)),
    Example(Build("Vit", encoder=encoder(8, 2), num_classes=5), wave(3, 8, 8, 3)),
    Example(
        Build("ParallelSelfAttentionBlock", mlp_size=12, num_heads=2, qk_size=8), wave(2, 6, 10)
    ),
    Example(Build("ImprovedMHDPAttention", num_heads=2, qk_size=8), wave(2, 6, 10), wave(2, 5, 6)),
]
