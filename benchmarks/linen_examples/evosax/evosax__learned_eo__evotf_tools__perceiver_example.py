"""Example calls for evosax/learned_eo/evotf_tools/perceiver.py of evosax 0.1.6."""

from typing import Any

from typed_nnx_codegen.verify.examples import Build, Example, wave

ENCODER: dict[str, Any] = {
    "num_latents": 8,
    "latent_dim": 8,
    "embed_dim": 2,
    "num_heads": 2,
    "num_layers": 2,
}

EXAMPLES = [
    Example(
        Build("MultiheadPerceiver", num_latents=8, latent_dim=8, embed_dim=8, num_heads=2),
        wave(2, 6, 8),
        train=False,
    ),
    Example(
        Build(
            "MultiheadPerceiver",
            num_latents=8,
            latent_dim=8,
            embed_dim=8,
            num_heads=2,
            use_bias=True,
        ),
        wave(2, 6, 8),
        train=False,
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
