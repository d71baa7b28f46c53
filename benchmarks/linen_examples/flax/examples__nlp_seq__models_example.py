"""Example calls for examples/nlp_seq/models.py of flax 0.12.8."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

TRANSFORMER_CONFIG = Build(
    "TransformerConfig",
    vocab_size=11,
    output_vocab_size=11,
    emb_dim=8,
    num_heads=2,
    num_layers=2,
    qkv_dim=8,
    mlp_dim=16,
    max_len=16,
)

EXAMPLES = [
    Example(Build("AddPositionEmbs", config=TRANSFORMER_CONFIG), wave(2, 6, 8)),
    Example(Build("MlpBlock", config=TRANSFORMER_CONFIG), wave(2, 6, 8)),
    Example(Build("Encoder1DBlock", config=TRANSFORMER_CONFIG), wave(2, 6, 8), deterministic=True),
    Example(Build("Transformer", config=TRANSFORMER_CONFIG), inputs=wave(2, 8), train=False),
]
