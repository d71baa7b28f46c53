"""Example calls for transformers/models/bert/modeling_flax_bert.py of transformers 4.48.3."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave

IDS = jnp.asarray([[3, 7, 1, 9, 2], [4, 4, 8, 0, 6]])
MASK = jnp.asarray([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])
TYPES = jnp.asarray([[0, 0, 1, 1, 1], [0, 0, 0, 1, 1]])
POSITIONS = jnp.broadcast_to(jnp.arange(5), (2, 5))


def config(**settings):
    """Return a small configuration."""
    small = {"vocab_size": 11, "hidden_size": 8, "num_hidden_layers": 2, "intermediate_size": 12}
    sizes = {"num_attention_heads": 2, "max_position_embeddings": 16, "pad_token_id": 0}
    return Build("BertConfig", **{**small, **sizes, **settings})


ARGUMENTS = (IDS, MASK, TYPES, POSITIONS, None)
LAYERS = wave(2, 5, 8)

EXAMPLES = [
    Example(Build("FlaxBertEmbeddings", config()), IDS, TYPES, POSITIONS, MASK),
    Example(Build("FlaxBertSelfAttention", config()), LAYERS, MASK, None),
    Example(
        Build("FlaxBertSelfAttention", config(), causal=True), LAYERS, MASK, None, name="causal"
    ),
    Example(
        Build("FlaxBertSelfAttention", config(), causal=True),
        LAYERS,
        MASK,
        None,
        init_cache=True,
        mutable=("cache",),
        name="cached",
    ),
    Example(Build("FlaxBertAttention", config()), LAYERS, MASK, None, output_attentions=True),
    Example(Build("FlaxBertIntermediate", config()), LAYERS),
    Example(Build("FlaxBertLayer", config()), LAYERS, MASK, None),
    Example(Build("FlaxBertEncoder", config()), LAYERS, MASK, None),
    Example(
        Build("FlaxBertEncoder", config()),
        LAYERS,
        MASK,
        None,
        output_hidden_states=True,
        output_attentions=True,
        return_dict=False,
        name="all outputs",
    ),
    Example(
        Build("FlaxBertEncoder", config(), gradient_checkpointing=True),
        LAYERS,
        MASK,
        None,
        name="remat",
    ),
    Example(Build("FlaxBertPooler", config()), LAYERS),
    Example(Build("FlaxBertModule", config()), *ARGUMENTS),
    Example(
        Build("FlaxBertModule", config(), add_pooling_layer=False), *ARGUMENTS, name="no pooler"
    ),
    Example(Build("FlaxBertForPreTrainingModule", config()), *ARGUMENTS),
    Example(Build("FlaxBertForMaskedLMModule", config()), *ARGUMENTS),
    Example(
        Build("FlaxBertForMaskedLMModule", config(tie_word_embeddings=False)),
        *ARGUMENTS,
        name="untied",
    ),
    Example(Build("FlaxBertForNextSentencePredictionModule", config()), *ARGUMENTS),
    Example(Build("FlaxBertForSequenceClassificationModule", config()), *ARGUMENTS),
    Example(
        Build("FlaxBertForMultipleChoiceModule", config()),
        *(each[:, None] for each in (IDS, MASK, TYPES, POSITIONS)),
        None,
    ),
    Example(Build("FlaxBertForTokenClassificationModule", config()), *ARGUMENTS),
    Example(Build("FlaxBertForQuestionAnsweringModule", config()), *ARGUMENTS),
    Example(
        Build("FlaxBertForCausalLMModule", config(is_decoder=True)),
        IDS,
        MASK,
        POSITIONS,
        init_cache=True,
        mutable=("cache",),
    ),
]
