"""Example calls for examples/wmt/models.py of flax 0.12.8."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example, wave


def tokens(*shape):
    """Return whole numbers from 0 to 4."""
    return jnp.arange(np.prod(shape, dtype=int)).reshape(shape) % 5


SMALL: dict[str, Any] = {
    "vocab_size": 11,
    "output_vocab_size": 11,
    "emb_dim": 8,
    "num_heads": 2,
    "num_layers": 2,
    "qkv_dim": 8,
    "mlp_dim": 16,
    "max_len": 16,
    "deterministic": True,
}
TRANSFORMER_CONFIG = Build("TransformerConfig", **SMALL)
TRANSFORMER = Build("Transformer", config=TRANSFORMER_CONFIG)

EXAMPLES = [
    Example(Build("AddPositionEmbs", config=TRANSFORMER_CONFIG), wave(2, 6, 8)),
    Example(
        Build(
            "AddPositionEmbs",
            config=Build("TransformerConfig", **SMALL, posemb_init=nn.initializers.normal(0.5)),
        ),
        wave(2, 16, 8),
        name="learned",
    ),
    Example(Build("MlpBlock", config=TRANSFORMER_CONFIG), wave(2, 6, 8)),
    Example(Build("Encoder1DBlock", config=TRANSFORMER_CONFIG), wave(2, 6, 8)),
    Example(
        Build("EncoderDecoder1DBlock", config=TRANSFORMER_CONFIG), wave(2, 6, 8), wave(2, 5, 8)
    ),
    Example(Build("Encoder", config=TRANSFORMER_CONFIG), tokens(2, 6)),
    Example(Build("Decoder", config=TRANSFORMER_CONFIG), wave(2, 6, 8), tokens(2, 6)),
    Example(TRANSFORMER, tokens(2, 6), tokens(2, 5)),
    Example(
        Build(
            "Transformer",
            config=Build(
                "TransformerConfig", **SMALL, share_embeddings=True, logits_via_embedding=True
            ),
        ),
        tokens(2, 6),
        tokens(2, 5),
        name="tied",
    ),
    Example(TRANSFORMER, tokens(2, 6), method="encode", name="encode"),
]
