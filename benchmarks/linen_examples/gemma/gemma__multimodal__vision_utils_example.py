"""Example calls for gemma/multimodal/vision_utils.py of gemma 3.3.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave


def vit(width, **fields):
    """Return a model of two blocks."""
    return Build(
        "ViTModel", patch_size=(2, 2), width=width, depth=2, mlp_dim=12, num_heads=2, **fields
    )


EXAMPLES = [
    Example(Build("MlpBlock", block_id=0, mlp_dim=12), wave(2, 5, 8)),
    Example(Build("MAPHead", block_id=0, mlp_dim=12, num_heads=2), wave(2, 5, 8)),
    Example(Build("Encoder1DBlock", block_id=0, mlp_dim=12, num_heads=2), wave(2, 5, 8)),
    Example(Build("Encoder", depth=2, mlp_dim=12, num_heads=2), wave(2, 5, 8)),
    Example(Build("Encoder", depth=2, mlp_dim=12, num_heads=2), wave(2, 5, 6), name="Encoder 6"),
    Example(vit(8), wave(2, 8, 8, 3)),
    Example(vit(8, posemb="sincos2d"), wave(2, 8, 8, 3), name="ViTModel sincos2d"),
]
