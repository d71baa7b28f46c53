"""Example calls for the modules of evosax 0.1.6, by file."""

from typing import Any

import jax

from typed_nnx_codegen.verify.examples import Build, Example, variants, wave

EXAMPLES: dict[str, list[Example]] = {}

EXAMPLES["evosax/learned_eo/evotf_tools/attention.py"] = [
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

EXAMPLES["evosax/learned_eo/evotf_tools/evo_modules.py"] = [
    *variants(
        Example(
            Build("CompressionPerceiver", num_latents=8, latent_dim=8, embed_dim=8, num_heads=2),
            wave(2, 16, 16, 3),
        ),
        {"use_bias": True},
    ),
    *variants(
        Example(
            Build("SolutionPerceiver", num_latents=8, latent_dim=8, embed_dim=8, num_heads=2),
            wave(2, 3, 4, 5, 8),
        ),
        {"use_bias": True},
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

EXAMPLES["evosax/learned_eo/evotf_tools/evo_transformer.py"] = [
    *variants(
        Example(
            Build("EvoTransformer", embed_dim=8, num_heads=2, num_latents=2, latent_dim=8),
            wave(2, 3, 4, 5, 8),
            wave(2, 3, 4, 8),
            wave(2, 3, 5, 8),
        ),
        {"use_bias": True},
    ),
]

ENCODER: dict[str, Any] = {
    "num_latents": 8,
    "latent_dim": 8,
    "embed_dim": 2,
    "num_heads": 2,
    "num_layers": 2,
}

EXAMPLES["evosax/learned_eo/evotf_tools/perceiver.py"] = [
    *variants(
        Example(
            Build("MultiheadPerceiver", num_latents=8, latent_dim=8, embed_dim=8, num_heads=2),
            wave(2, 6, 8),
            train=False,
        ),
        {"use_bias": True},
    ),
    Example(
        Build(
            "PerceiverBlock",
            num_latents=8,
            latent_dim=8,
            num_heads=2,
            embed_dim=8,
            dropout_prob=0.1,
            use_bias=True,
            out_att_maps=False,
        ),
        wave(2, 6, 8),
        train=False,
    ),
    Example(Build("PerceiverEncoder", **ENCODER), wave(2, 8), train=False),
    Example(Build("PerceiverEncoder", **ENCODER, use_bias=True), wave(2, 8), train=False),
]

EXAMPLES["evosax/learned_eo/evotf_tools/shared.py"] = [
    Example(Build("MLP", embed_dim=8, dropout_prob=0.1, use_bias=True), wave(2, 8), train=False),
    Example(Build("PositionalEncoding", d_model=8), wave(2, 6, 8)),
]

EXAMPLES["evosax/learned_eo/les_tools.py"] = [
    Example(Build("AttentionWeights"), wave(2, 8)),
    Example(Build("EvoPathMLP"), wave(2, 8), wave(2, 8), wave(8)),
]

EXAMPLES["evosax/learned_eo/lga_tools.py"] = [
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

EXAMPLES["evosax/networks/cnn.py"] = [
    Example(Build("CNN"), wave(2, 16, 16, 3)),
    Example(Build("All_CNN_C"), wave(2, 28, 28, 1)),
]

EXAMPLES["evosax/networks/mlp.py"] = [Example(Build("MLP"), wave(2, 8))]
