"""Example calls for the modules of dalle-mini 0.1.5, by file."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES: dict[str, list[Example]] = {}

IDS = jnp.asarray([[3, 7, 1, 9, 2], [4, 4, 8, 0, 6]])

MASK = jnp.asarray([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])

POSITIONS = jnp.broadcast_to(jnp.arange(5), (2, 5))


def config(**settings):
    """Return a small configuration."""
    encoder = {"encoder_layers": 2, "encoder_ffn_dim": 12, "encoder_attention_heads": 2}
    decoder = {"decoder_layers": 2, "decoder_ffn_dim": 10, "decoder_attention_heads": 2}
    sizes = {"encoder_vocab_size": 11, "image_vocab_size": 13, "d_model": 8}
    lengths = {"image_length": 5, "max_text_length": 5}
    given = {**sizes, **lengths, **encoder, **decoder, "use_scan": False, **settings}
    return Build("dalle_mini.model.configuration.DalleBartConfig", **given)


def embedding(number):
    """Return the embedding of some tokens."""
    return Build("flax.linen.Embed", number, 8)


RMS = {"ln_type": "rmsnorm", "force_ln_scale": True, "gradient_checkpointing": False}

BOTH = (wave(2, 5, 8), MASK, wave(2, 5, 8), MASK)

EXAMPLES["dalle_mini/model/modeling.py"] = [
    Example(Build("RMSNorm"), wave(2, 5, 8)),
    Example(Build("FlaxBartAttention", config(), 8, 2), wave(2, 5, 8)),
    Example(Build("GLU", config(), 12, 8), wave(2, 5, 8)),
    Example(Build("FFN", config(), 12, 8), wave(2, 5, 8)),
    Example(Build("FlaxBartEncoderLayer", config()), wave(2, 5, 8), MASK),
    Example(Build("FlaxBartEncoderLayer", config(**RMS)), wave(2, 5, 8), MASK, name="RMS"),
    Example(Build("FlaxBartDecoderLayer", config()), *BOTH),
    Example(Build("FlaxBartDecoderLayer", config(**RMS)), *BOTH, name="RMS 2"),
    Example(Build("FlaxBartEncoderLayerCollection", config()), wave(2, 5, 8), MASK),
    Example(
        Build("FlaxBartEncoderLayerCollection", config(use_scan=True)),
        wave(2, 5, 8),
        MASK,
        name="a scan",
    ),
    Example(Build("FlaxBartDecoderLayerCollection", config()), *BOTH),
    Example(Build("FlaxBartDecoderLayerCollection", config(use_scan=True)), *BOTH, name="a scan 2"),
    Example(Build("FlaxBartEncoder", config(), embedding(11)), IDS, MASK, POSITIONS),
    Example(
        Build("FlaxBartEncoder", config(**RMS), embedding(11)), IDS, MASK, POSITIONS, name="RMS 3"
    ),
    Example(
        Build("FlaxBartDecoder", config(), embedding(14)), IDS, MASK, POSITIONS, wave(2, 5, 8), MASK
    ),
    Example(
        Build("FlaxBartDecoder", config(**RMS), embedding(14)),
        IDS,
        MASK,
        POSITIONS,
        wave(2, 5, 8),
        MASK,
        name="RMS 4",
    ),
]
