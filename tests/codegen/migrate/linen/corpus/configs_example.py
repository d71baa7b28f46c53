"""How the configured models are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
TOKENS = jnp.arange(8).reshape(2, 4)
CONFIG = Build("EncoderConfig")
POST = Build(
    "EncoderConfig", layers=1, attention=Build("AttentionConfig", 3, qkv_dim=9), pre_norm=False
)
TEXT = Build("TransformerConfig", vocab_size=9)
DICT = {"widths": (5, 4), "out": 3}

EXAMPLES = [
    Example(Build("ConfiguredMLP", CONFIG), X),
    Example(Build("ConfiguredBlock", CONFIG), SEQ),
    Example(Build("ConfiguredBlock", POST), SEQ, mask=jnp.ones((2, 1, 4, 4), bool)),
    Example(Build("MlpBlock", TEXT), SEQ),
    Example(Build("MlpBlock", TEXT, out_dim=3), SEQ),
    Example(Build("TextEncoder", TEXT), TOKENS),
    Example(Build("TranslationModel", TEXT), TOKENS, TOKENS[:, :3]),
    Example(Build("TranslationModel", config=TEXT), TOKENS, method="encode"),
    Example(Build("DictConfigured", DICT), X),
    Example(Build("DictConfigured", Build("as_frozen", {**DICT, "norm": False})), X),
    Example(Build("KeywordConfigured", DICT), X),
    Example(Build("KeywordConfigured", DICT, attention_kwargs={"qkv_features": 6}), X),
]
