"""Example calls for gemma/multimodal/vision.py of gemma 3.3.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave


def encoder(width):
    """Return an encoder of images of 8 times 8 in patches of 2 times 2."""
    return Build(
        "SigLiPFromPatches",
        siglip_encoder=Build(
            "gemma.multimodal.vision_utils.ViTModel",
            patch_size=(2, 2),
            width=width,
            depth=1,
            mlp_dim=12,
            num_heads=2,
        ),
        siglip_exit=Build("VisionExit", output_length=4),
        num_mm_tokens_per_image_prepool=16,
        num_mm_tokens_per_image=4,
        image_height=8,
        image_width=8,
    )


EXAMPLES = [
    Example(Build("VisionExit", output_length=4), wave(2, 16, 8)),
    Example(encoder(8), patches=wave(2, 1, 16, 12), is_training=False),
    Example(encoder(12), patches=wave(2, 1, 16, 12), is_training=False),
]
