"""Example calls for evosax/learned_eo/evotf_tools/evo_transformer.py of evosax 0.1.6."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(
        Build("EvoTransformer", embed_dim=8, num_heads=2, num_latents=2, latent_dim=8),
        wave(2, 3, 4, 5, 8),
        wave(2, 3, 4, 8),
        wave(2, 3, 5, 8),
    ),
    Example(
        Build(
            "EvoTransformer", embed_dim=8, num_heads=2, num_latents=2, latent_dim=8, use_bias=True
        ),
        wave(2, 3, 4, 5, 8),
        wave(2, 3, 4, 8),
        wave(2, 3, 5, 8),
    ),
]
