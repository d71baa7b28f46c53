"""How the attention modules are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
CONTEXT = jnp.cos(jnp.arange(2 * 3 * 5.0)).reshape(2, 3, 5)
VALUES = jnp.cos(jnp.arange(2 * 3 * 7.0)).reshape(2, 3, 7)
MASK = jnp.array([[1, 1, 0], [1, 0, 0]], bool)[:, None, None, :]

EXAMPLES = [
    Example(Build("CrossAttentionBlock", 2), SEQ, CONTEXT),
    Example(Build("CrossAttentionBlock", 2, qkv_features=8), SEQ, CONTEXT, mask=MASK),
    Example(Build("MixedAttention"), SEQ, CONTEXT, VALUES),
    Example(Build("NormalizedAttention", 2), SEQ),
    Example(Build("DecodingAttention", 2), SEQ),
    Example(Build("DecodingAttention", 2, decode=True), SEQ[:, :1], mutable=("cache",)),
    Example(Build("RelativeBias", 2), SEQ),
    Example(Build("RotaryAttention", 4, 2, 2), SEQ),
    Example(Build("Einsum", (2, 6, 3)), "BTD,NDH->BTNH", SEQ),
    Example(Build("PerceiverPool", 3, 6), CONTEXT),
    Example(Build("PerceiverPool", 3, 6, share=True), CONTEXT),
    Example(Build("TalkingHeads", 3, 2), SEQ),
]
