"""Example calls for evosax/learned_eo/evotf_tools/evo_modules.py of evosax 0.1.6."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(
        Build("CompressionPerceiver", num_latents=8, latent_dim=8, embed_dim=8, num_heads=2),
        wave(2, 16, 16, 3),
    ),
    Example(
        Build(
            "CompressionPerceiver",
            num_latents=8,
            latent_dim=8,
            embed_dim=8,
            num_heads=2,
            use_bias=True,
        ),
        wave(2, 16, 16, 3),
    ),
    Example(
        Build("SolutionPerceiver", num_latents=8, latent_dim=8, embed_dim=8, num_heads=2),
        wave(2, 3, 4, 5, 8),
    ),
    Example(
        Build(
            "SolutionPerceiver",
            num_latents=8,
            latent_dim=8,
            embed_dim=8,
            num_heads=2,
            use_bias=True,
        ),
        wave(2, 3, 4, 5, 8),
    ),
    Example(
        Build("DistributionAttention", embed_dim=8, num_heads=2), wave(2, 6, 4, 8), train=False
    ),
    Example(
        Build("DistributionAttention", embed_dim=8, num_heads=2, use_bias=True),
        wave(2, 6, 4, 8),
        train=False,
    ),
    Example(Build("DistributionUpdateNetwork", embed_dim=8), wave(2, 8)),
    Example(Build("DistributionUpdateNetwork", embed_dim=8, use_bias=True), wave(2, 8)),
]
