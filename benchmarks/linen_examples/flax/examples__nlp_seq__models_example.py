"""Example calls for examples/nlp_seq/models.py of flax 0.12.8."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(
        Build(
            "AddPositionEmbs",
            config=Build(
                "TransformerConfig",
                vocab_size=11,
                output_vocab_size=11,
                emb_dim=8,
                num_heads=2,
                num_layers=2,
                qkv_dim=8,
                mlp_dim=16,
                max_len=16,
            ),
        ),
        wave(2, 6, 8),
    ),
    Example(
        Build(
            "MlpBlock",
            config=Build(
                "TransformerConfig",
                vocab_size=11,
                output_vocab_size=11,
                emb_dim=8,
                num_heads=2,
                num_layers=2,
                qkv_dim=8,
                mlp_dim=16,
                max_len=16,
            ),
        ),
        wave(2, 6, 8),
    ),
    Example(
        Build(
            "Encoder1DBlock",
            config=Build(
                "TransformerConfig",
                vocab_size=11,
                output_vocab_size=11,
                emb_dim=8,
                num_heads=2,
                num_layers=2,
                qkv_dim=8,
                mlp_dim=16,
                max_len=16,
            ),
        ),
        wave(2, 6, 8),
        deterministic=True,
    ),
    Example(
        Build(
            "Transformer",
            config=Build(
                "TransformerConfig",
                vocab_size=11,
                output_vocab_size=11,
                emb_dim=8,
                num_heads=2,
                num_layers=2,
                qkv_dim=8,
                mlp_dim=16,
                max_len=16,
            ),
        ),
        inputs=wave(2, 8),
        train=False,
    ),
]
