"""Example calls for gemma/gm/nn/gemma3n/_transformer.py of gemma 3.3.0."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

MODULES = "gemma.gm.nn.gemma3n._modules"


def model(width, hidden, heads, depth=2, **fields):
    """Return a model of some blocks without images."""
    kinds = [Build.ref(f"{MODULES}.AttentionType.GLOBAL")] * depth
    return Build(
        "Gemma3nTransformer",
        config=Build(
            "gemma.gm.nn.gemma3n._config.TransformerConfig",
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
            **fields,
        ),
        dtype=jnp.float32,
    )


def cache(depth, size):
    """Return an empty cache of keys and values for two sequences."""
    empty = {
        "k": jnp.zeros((2, size, 1, 4)),
        "v": jnp.zeros((2, size, 1, 4)),
        "end_index": jnp.zeros(2, jnp.int32),
        "positions": jnp.zeros((2, size), jnp.int32),
    }
    return {f"layer_{number}": empty for number in range(depth)}


ALL = {"use_altup": True, "use_laurel": True, "per_layer_input_dim": 6}
EXAMPLES = [
    Example(model(8, 12, 2), jnp.arange(10).reshape(2, 5)),
    Example(model(6, 10, 3), jnp.arange(12).reshape(3, 4)),
    Example(model(8, 12, 2, **ALL), jnp.arange(10).reshape(2, 5), name="all parts"),
    Example(model(6, 10, 3, **ALL), jnp.arange(12).reshape(3, 4), name="all parts 2"),
    Example(
        model(
            8,
            12,
            2,
            4,
            kv_cache_sharing_config=Build(
                "gemma.gm.nn.gemma3n._config.KVCacheSharingConfig",
                frac_shared_layers=0.5,
                share_global=True,
            ),
        ),
        jnp.arange(10).reshape(2, 5),
        cache=cache(4, 6),
        attention_mask=jnp.ones((2, 5, 6), bool),
        name="a cache that layers share",
    ),
]
