"""Example calls for transformers/models/bart/modeling_flax_bart.py of transformers 4.48.3."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave

IDS = jnp.asarray([[3, 7, 1, 9, 2], [4, 4, 8, 0, 6]])
MASK = jnp.asarray([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])
POSITIONS = jnp.broadcast_to(jnp.arange(5), (2, 5))


def config(**settings):
    """Return a small configuration."""
    encoder = {"encoder_layers": 2, "encoder_ffn_dim": 12, "encoder_attention_heads": 2}
    decoder = {"decoder_layers": 2, "decoder_ffn_dim": 12, "decoder_attention_heads": 2}
    sizes = {"vocab_size": 11, "d_model": 8, "max_position_embeddings": 16, "eos_token_id": 2}
    return Build("BartConfig", **{**sizes, **encoder, **decoder, **settings})


ENDS = IDS.at[:, -1].set(2)
BOTH = (ENDS, MASK, ENDS, MASK, POSITIONS, POSITIONS)

EXAMPLES = [
    Example(Build("FlaxBartAttention", config(), 8, 2), wave(2, 5, 8)),
    Example(
        Build("FlaxBartAttention", config(), 8, 2, causal=True),
        wave(2, 5, 8),
        attention_mask=MASK,
        init_cache=True,
        mutable=("cache",),
        name="cached",
    ),
    Example(Build("FlaxBartEncoderLayer", config()), wave(2, 5, 8), MASK),
    Example(Build("FlaxBartDecoderLayer", config()), wave(2, 5, 8), MASK, wave(2, 5, 8), MASK),
    Example(Build("FlaxBartEncoderLayerCollection", config()), wave(2, 5, 8), MASK),
    Example(Build("FlaxBartModule", config()), *BOTH),
    Example(Build("FlaxBartForConditionalGenerationModule", config()), *BOTH),
    Example(
        Build("FlaxBartForConditionalGenerationModule", config(tie_word_embeddings=False)),
        *BOTH,
        return_dict=False,
        name="untied",
    ),
    Example(Build("FlaxBartForSequenceClassificationModule", config()), *BOTH),
    Example(Build("FlaxBartForQuestionAnsweringModule", config()), *BOTH),
    Example(Build("FlaxBartForCausalLMModule", config()), IDS, MASK, POSITIONS),
]
