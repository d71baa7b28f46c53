"""Example calls for diffusers/models/attention_flax.py of diffusers 0.30.3."""

from typing import Any

from typed_nnx_codegen.verify.examples import Build, Example, wave

TRANSFORMER_OPTIONS: list[dict[str, Any]] = [
    {},
    {"use_linear_projection": True},
    {"only_cross_attention": True},
]

EXAMPLES = [
    Example(Build("FlaxAttention", query_dim=8), wave(2, 6, 8)),
    Example(
        Build("FlaxAttention", query_dim=8, use_memory_efficient_attention=True), wave(2, 6, 8)
    ),
    Example(
        Build("FlaxBasicTransformerBlock", dim=8, n_heads=2, d_head=4), wave(2, 6, 8), wave(2, 6, 8)
    ),
    *(
        Example(
            Build("FlaxTransformer2DModel", in_channels=32, n_heads=2, d_head=16, **other),
            wave(2, 8, 8, 32),
            wave(2, 6, 8),
        )
        for other in TRANSFORMER_OPTIONS
    ),
    Example(
        Build(
            "FlaxTransformer2DModel",
            in_channels=32,
            n_heads=2,
            d_head=16,
            use_linear_projection=True,
            only_cross_attention=True,
            depth=2,
        ),
        wave(2, 8, 8, 32),
        wave(2, 6, 32),
        name="linear",
    ),
    Example(Build("FlaxFeedForward", dim=8), wave(2, 6, 8)),
    Example(Build("FlaxGEGLU", dim=8), wave(2, 6, 8)),
]
