"""Example calls for transformers/models/distilbert/modeling_flax_distilbert.py of transformers 4.48.3."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave

IDS = jnp.asarray([[3, 7, 1, 9, 2], [4, 4, 8, 0, 6]])
MASK = jnp.asarray([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])


def config(**settings):
    """Return a small configuration."""
    sizes = {"vocab_size": 11, "dim": 8, "hidden_dim": 12, "n_layers": 2, "n_heads": 2}
    return Build("DistilBertConfig", max_position_embeddings=16, **{**sizes, **settings})


EXAMPLES = [
    Example(Build("FlaxTransformer", config()), wave(2, 5, 8), MASK),
    Example(
        Build("FlaxTransformer", config()),
        wave(2, 5, 8),
        MASK,
        output_attentions=True,
        name="attentions",
    ),
    Example(Build("FlaxDistilBertModule", config()), IDS, MASK),
    Example(Build("FlaxDistilBertForMaskedLMModule", config()), IDS, MASK),
    Example(
        Build("FlaxDistilBertForMaskedLMModule", config(tie_word_embeddings=False)),
        IDS,
        MASK,
        name="untied",
    ),
    Example(Build("FlaxDistilBertForSequenceClassificationModule", config()), IDS, MASK),
]
