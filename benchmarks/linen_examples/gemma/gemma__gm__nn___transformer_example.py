"""Example calls for gemma/gm/nn/_transformer.py of gemma 3.3.0."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


def model(width, hidden, heads):
    """Return a model of two blocks without images."""
    kinds = [Build.ref(f"gemma.gm.nn._modules.AttentionType.{name}") for name in ("GLOBAL",) * 2]
    return Build(
        "Transformer",
        config=Build(
            "gemma.gm.nn._config.TransformerConfig",
            num_embed=20,
            embed_dim=width,
            hidden_dim=hidden,
            num_heads=heads,
            head_dim=4,
            num_kv_heads=1,
            final_logit_softcap=None,
            use_post_attn_norm=True,
            use_post_ffw_norm=True,
            attention_types=kinds,
        ),
        dtype=jnp.float32,
    )


EXAMPLES = [
    Example(model(8, 12, 2), jnp.arange(10).reshape(2, 5)),
    Example(model(6, 10, 3), jnp.arange(12).reshape(3, 4)),
]
