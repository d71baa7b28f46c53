"""Example calls for diffusers/pipelines/stable_diffusion/safety_checker_flax.py of 0.30.3."""

from typed_nnx_codegen.verify.examples import Build, Example, wave


def config(width, projection):
    """Return a small configuration."""
    vision = {
        "hidden_size": width,
        "intermediate_size": 12,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": 8,
        "patch_size": 4,
    }
    return Build("transformers.CLIPConfig", vision_config=vision, projection_dim=projection)


EXAMPLES = [
    Example(Build("FlaxStableDiffusionSafetyCheckerModule", config(8, 6)), wave(2, 8, 8, 3)),
    Example(Build("FlaxStableDiffusionSafetyCheckerModule", config(6, 4)), wave(2, 8, 8, 3)),
]
