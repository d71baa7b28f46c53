"""Example calls for the modules of kauldron 1.4.2, by file."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES: dict[str, list[Example]] = {}

EXAMPLES["kauldron/metrics/lpips.py"] = [
    Example(Build("_LpipsVgg"), wave(2, 16, 16, 3), wave(2, 16, 16, 3)[::-1]),
    Example(Build("VggNet"), wave(2, 16, 16, 3)),
    Example(Build("VggBlock", num_features=6, num_layers=2), wave(2, 8, 8, 3)),
]


def encoder(width, patch):
    """Return an encoder of two blocks."""
    return Build(
        "VitEncoder",
        patch_size=(patch, patch),
        hidden_size=width,
        num_layers=2,
        block_template=Build("ParallelSelfAttentionBlock", mlp_size=12, num_heads=2, qk_size=8),
    )


EXAMPLES["kauldron/modules/deprecated.py"] = [
    Example(encoder(8, 2), wave(2, 8, 8, 3)),
    Example(encoder(8, 2), wave(3, 8, 8, 3)),
    Example(Build("Vit", encoder=encoder(8, 2), num_classes=5), wave(2, 8, 8, 3)),
    Example(Build("Vit", encoder=encoder(8, 2), num_classes=5), wave(3, 8, 8, 3)),
    Example(
        Build("ParallelSelfAttentionBlock", mlp_size=12, num_heads=2, qk_size=8), wave(2, 6, 10)
    ),
    Example(Build("ImprovedMHDPAttention", num_heads=2, qk_size=8), wave(2, 6, 10), wave(2, 5, 6)),
]

EXAMPLES["kauldron/modules/pos_embeddings.py"] = [
    Example(Build("FourierEmbedding", num_fourier_bases=4), (2, 4, 6, 8), axis=(-3, -2)),
    Example(Build("LearnedEmbedding"), (2, 16, 8), axis=-2),
]


def block():
    """Return a block; the attention of kauldron has a marker."""
    return Build("kauldron.modules.transformers.TransformerMLP", hidden_size=12)


def vit_encoder(width, patch, **fields):
    """Return an encoder of two blocks."""
    return Build(
        "VitEncoder",
        embedding=Build(
            "kauldron.modules.input_embeddings.PatchifyEmbed",
            patch_size=(patch, patch),
            hidden_size=width,
        ),
        layers=(block(), block()),
        **fields,
    )


EXAMPLES["kauldron/modules/vit.py"] = [
    Example(vit_encoder(8, 2), wave(2, 8, 8, 3)),
    Example(vit_encoder(8, 2, prepend_cls_token=True), wave(3, 8, 8, 3)),
    Example(Build("Vit", encoder=vit_encoder(8, 2), num_classes=5), wave(2, 8, 8, 3)),
    Example(Build("Vit", encoder=vit_encoder(8, 2), num_classes=5), wave(3, 8, 8, 3)),
    Example(Build("VitAutoEncoder", encoder=vit_encoder(8, 2)), wave(2, 8, 8, 3)),
    Example(Build("VitAutoEncoder", encoder=vit_encoder(8, 2)), wave(3, 8, 8, 3)),
]
