"""Example calls for kauldron/modules/vit.py of kauldron 1.4.2."""

from typed_nnx_codegen.verify.examples import Build, Example, wave


def block():
    """Return a block; the attention of kauldron has a marker."""
    return Build("kauldron.modules.transformers.TransformerMLP", hidden_size=12)


def encoder(width, patch, **fields):
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


EXAMPLES = [
    Example(encoder(8, 2), wave(2, 8, 8, 3)),
    Example(encoder(8, 2, prepend_cls_token=True), wave(3, 8, 8, 3)),
    Example(Build("Vit", encoder=encoder(8, 2), num_classes=5), wave(2, 8, 8, 3)),
    Example(Build("Vit", encoder=encoder(8, 2), num_classes=5), wave(3, 8, 8, 3)),
    Example(Build("VitAutoEncoder", encoder=encoder(8, 2)), wave(2, 8, 8, 3)),
    Example(Build("VitAutoEncoder", encoder=encoder(8, 2)), wave(3, 8, 8, 3)),
]
