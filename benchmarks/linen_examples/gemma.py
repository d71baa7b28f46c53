"""Example calls for the modules of gemma 3.3.0, by file."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES: dict[str, list[Example]] = {}


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


EXAMPLES["gemma/gm/nn/_transformer.py"] = [
    Example(model(8, 12, 2), jnp.arange(10).reshape(2, 5)),
    Example(model(6, 10, 3), jnp.arange(12).reshape(3, 4)),
]


def block(width, **more):
    """Return a block of some width."""
    return Build(
        "Block",
        num_heads=2,
        num_kv_heads=1,
        embed_dim=width,
        head_dim=4,
        hidden_dim=12,
        use_post_attn_norm=True,
        use_post_ffw_norm=True,
        attn_type=Build.ref("AttentionType.GLOBAL"),
        query_pre_attn_scalar=0.5,
        transpose_gating_einsum=False,
        **more,
    )


CALL = (jnp.broadcast_to(jnp.arange(5), (2, 5)), None, jnp.ones((2, 5, 5), bool))

EXAMPLES["gemma/gm/nn/gemma3n/_modules.py"] = [
    Example(block(8), wave(2, 5, 8), *CALL),
    Example(block(6, use_laurel=True), wave(2, 5, 6), *CALL, name="laurel"),
    Example(block(8, per_layer_input_dim=6), wave(2, 5, 8), *CALL, wave(2, 5, 6), name="layers"),
    Example(
        block(8, use_altup=True),
        [wave(2, 5, 8), wave(2, 5, 8) + 1, wave(2, 5, 8) + 2, wave(2, 5, 8) + 3],
        *CALL,
        name="altup",
    ),
]

MODULES = "gemma.gm.nn.gemma3n._modules"


def transformer_model(width, hidden, heads, depth=2, **fields):
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

EXAMPLES["gemma/gm/nn/gemma3n/_transformer.py"] = [
    Example(transformer_model(8, 12, 2), jnp.arange(10).reshape(2, 5)),
    Example(transformer_model(6, 10, 3), jnp.arange(12).reshape(3, 4)),
    Example(transformer_model(8, 12, 2, **ALL), jnp.arange(10).reshape(2, 5), name="all parts"),
    Example(transformer_model(6, 10, 3, **ALL), jnp.arange(12).reshape(3, 4), name="all parts 2"),
    Example(
        transformer_model(
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


EXAMPLES["gemma/multimodal/vision.py"] = [
    Example(Build("VisionExit", output_length=4), wave(2, 16, 8)),
    Example(encoder(8), patches=wave(2, 1, 16, 12), is_training=False),
    Example(encoder(12), patches=wave(2, 1, 16, 12), is_training=False),
]


def vit(width, **fields):
    """Return a model of two blocks."""
    return Build(
        "ViTModel", patch_size=(2, 2), width=width, depth=2, mlp_dim=12, num_heads=2, **fields
    )


EXAMPLES["gemma/multimodal/vision_utils.py"] = [
    Example(Build("MlpBlock", block_id=0, mlp_dim=12), wave(2, 5, 8)),
    Example(Build("MAPHead", block_id=0, mlp_dim=12, num_heads=2), wave(2, 5, 8)),
    Example(Build("Encoder1DBlock", block_id=0, mlp_dim=12, num_heads=2), wave(2, 5, 8)),
    Example(Build("Encoder", depth=2, mlp_dim=12, num_heads=2), wave(2, 5, 8)),
    Example(Build("Encoder", depth=2, mlp_dim=12, num_heads=2), wave(2, 5, 6), name="Encoder 6"),
    Example(vit(8), wave(2, 8, 8, 3)),
    Example(vit(8, posemb="sincos2d"), wave(2, 8, 8, 3), name="ViTModel sincos2d"),
]
