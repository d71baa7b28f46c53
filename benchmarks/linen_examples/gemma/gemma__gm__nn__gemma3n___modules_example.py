"""Example calls for gemma/gm/nn/gemma3n/_modules.py of gemma 3.3.0."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave


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

EXAMPLES = [
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
