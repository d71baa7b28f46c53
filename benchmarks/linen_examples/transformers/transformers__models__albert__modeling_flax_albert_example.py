"""Example calls for transformers/models/albert/modeling_flax_albert.py of transformers 4.48.3."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave

IDS = jnp.asarray([[3, 7, 1, 9, 2], [4, 4, 8, 0, 6]])
MASK = jnp.asarray([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])
TYPES = jnp.asarray([[0, 0, 1, 1, 1], [0, 0, 0, 1, 1]])
POSITIONS = jnp.broadcast_to(jnp.arange(5), (2, 5))


def config(**settings):
    """Return a small configuration."""
    sizes = {"vocab_size": 11, "embedding_size": 6, "hidden_size": 8, "intermediate_size": 12}
    layers = {"num_hidden_layers": 4, "num_hidden_groups": 2, "num_attention_heads": 2}
    return Build("AlbertConfig", max_position_embeddings=16, **{**sizes, **layers, **settings})


ARGUMENTS = (IDS, MASK, TYPES, POSITIONS)

EXAMPLES = [
    Example(Build("FlaxAlbertEmbeddings", config()), IDS, TYPES, POSITIONS),
    Example(Build("FlaxAlbertLayer", config()), wave(2, 5, 8), MASK),
    Example(Build("FlaxAlbertLayerGroups", config()), wave(2, 5, 8), MASK),
    Example(Build("FlaxAlbertEncoder", config()), wave(2, 5, 6), MASK),
    Example(Build("FlaxAlbertModule", config()), *ARGUMENTS),
    Example(
        Build("FlaxAlbertModule", config(), add_pooling_layer=False), *ARGUMENTS, name="no pooler"
    ),
    Example(Build("FlaxAlbertForPreTrainingModule", config()), *ARGUMENTS),
    Example(Build("FlaxAlbertForMaskedLMModule", config()), *ARGUMENTS),
    Example(
        Build("FlaxAlbertForMaskedLMModule", config(tie_word_embeddings=False)),
        *ARGUMENTS,
        name="untied",
    ),
    Example(Build("FlaxAlbertForSequenceClassificationModule", config()), *ARGUMENTS),
    Example(Build("FlaxAlbertForTokenClassificationModule", config()), *ARGUMENTS),
]
