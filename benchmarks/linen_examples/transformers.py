"""Example calls for the modules of transformers 4.48.3, by file."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES: dict[str, list[Example]] = {}

IDS = jnp.asarray([[3, 7, 1, 9, 2], [4, 4, 8, 0, 6]])

MASK = jnp.asarray([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])

TYPES = jnp.asarray([[0, 0, 1, 1, 1], [0, 0, 0, 1, 1]])

POSITIONS = jnp.broadcast_to(jnp.arange(5), (2, 5))


def albert_config(**settings):
    """Return a small configuration."""
    sizes = {"vocab_size": 11, "embedding_size": 6, "hidden_size": 8, "intermediate_size": 12}
    layers = {"num_hidden_layers": 4, "num_hidden_groups": 2, "num_attention_heads": 2}
    return Build("AlbertConfig", max_position_embeddings=16, **{**sizes, **layers, **settings})


ALBERT_ARGUMENTS = (IDS, MASK, TYPES, POSITIONS)

EXAMPLES["transformers/models/albert/modeling_flax_albert.py"] = [
    Example(Build("FlaxAlbertEmbeddings", albert_config()), IDS, TYPES, POSITIONS),
    Example(Build("FlaxAlbertLayer", albert_config()), wave(2, 5, 8), MASK),
    Example(Build("FlaxAlbertLayerGroups", albert_config()), wave(2, 5, 8), MASK),
    Example(Build("FlaxAlbertEncoder", albert_config()), wave(2, 5, 6), MASK),
    Example(Build("FlaxAlbertModule", albert_config()), *ALBERT_ARGUMENTS),
    Example(
        Build("FlaxAlbertModule", albert_config(), add_pooling_layer=False),
        *ALBERT_ARGUMENTS,
        name="no pooler",
    ),
    Example(Build("FlaxAlbertForPreTrainingModule", albert_config()), *ALBERT_ARGUMENTS),
    Example(Build("FlaxAlbertForMaskedLMModule", albert_config()), *ALBERT_ARGUMENTS),
    Example(
        Build("FlaxAlbertForMaskedLMModule", albert_config(tie_word_embeddings=False)),
        *ALBERT_ARGUMENTS,
        name="untied",
    ),
    Example(Build("FlaxAlbertForSequenceClassificationModule", albert_config()), *ALBERT_ARGUMENTS),
    Example(Build("FlaxAlbertForTokenClassificationModule", albert_config()), *ALBERT_ARGUMENTS),
]


def bart_config(**settings):
    """Return a small configuration."""
    encoder = {"encoder_layers": 2, "encoder_ffn_dim": 12, "encoder_attention_heads": 2}
    decoder = {"decoder_layers": 2, "decoder_ffn_dim": 12, "decoder_attention_heads": 2}
    sizes = {"vocab_size": 11, "d_model": 8, "max_position_embeddings": 16, "eos_token_id": 2}
    return Build("BartConfig", **{**sizes, **encoder, **decoder, **settings})


ENDS = IDS.at[:, -1].set(2)

BOTH = (ENDS, MASK, ENDS, MASK, POSITIONS, POSITIONS)

EXAMPLES["transformers/models/bart/modeling_flax_bart.py"] = [
    Example(Build("FlaxBartAttention", bart_config(), 8, 2), wave(2, 5, 8)),
    Example(
        Build("FlaxBartAttention", bart_config(), 8, 2, causal=True),
        wave(2, 5, 8),
        attention_mask=MASK,
        init_cache=True,
        mutable=("cache",),
        name="cached",
    ),
    Example(Build("FlaxBartEncoderLayer", bart_config()), wave(2, 5, 8), MASK),
    Example(
        Build("FlaxBartDecoderLayer", bart_config()),
        wave(2, 5, 8),
        MASK,
        wave(2, 5, 8),
        MASK,
    ),
    Example(Build("FlaxBartEncoderLayerCollection", bart_config()), wave(2, 5, 8), MASK),
    Example(Build("FlaxBartModule", bart_config()), *BOTH),
    Example(Build("FlaxBartForConditionalGenerationModule", bart_config()), *BOTH),
    Example(
        Build(
            "FlaxBartForConditionalGenerationModule",
            bart_config(tie_word_embeddings=False),
        ),
        *BOTH,
        return_dict=False,
        name="untied",
    ),
    Example(Build("FlaxBartForSequenceClassificationModule", bart_config()), *BOTH),
    Example(Build("FlaxBartForQuestionAnsweringModule", bart_config()), *BOTH),
    Example(Build("FlaxBartForCausalLMModule", bart_config()), IDS, MASK, POSITIONS),
]


def bert_config(**settings):
    """Return a small configuration."""
    small = {"vocab_size": 11, "hidden_size": 8, "num_hidden_layers": 2, "intermediate_size": 12}
    sizes = {"num_attention_heads": 2, "max_position_embeddings": 16, "pad_token_id": 0}
    return Build("BertConfig", **{**small, **sizes, **settings})


BERT_ARGUMENTS = (IDS, MASK, TYPES, POSITIONS, None)

LAYERS = wave(2, 5, 8)

EXAMPLES["transformers/models/bert/modeling_flax_bert.py"] = [
    Example(Build("FlaxBertEmbeddings", bert_config()), IDS, TYPES, POSITIONS, MASK),
    Example(Build("FlaxBertSelfAttention", bert_config()), LAYERS, MASK, None),
    Example(
        Build("FlaxBertSelfAttention", bert_config(), causal=True),
        LAYERS,
        MASK,
        None,
        name="causal",
    ),
    Example(
        Build("FlaxBertSelfAttention", bert_config(), causal=True),
        LAYERS,
        MASK,
        None,
        init_cache=True,
        mutable=("cache",),
        name="cached",
    ),
    Example(
        Build("FlaxBertAttention", bert_config()),
        LAYERS,
        MASK,
        None,
        output_attentions=True,
    ),
    Example(Build("FlaxBertIntermediate", bert_config()), LAYERS),
    Example(Build("FlaxBertLayer", bert_config()), LAYERS, MASK, None),
    Example(Build("FlaxBertEncoder", bert_config()), LAYERS, MASK, None),
    Example(
        Build("FlaxBertEncoder", bert_config()),
        LAYERS,
        MASK,
        None,
        output_hidden_states=True,
        output_attentions=True,
        return_dict=False,
        name="all outputs",
    ),
    Example(
        Build("FlaxBertEncoder", bert_config(), gradient_checkpointing=True),
        LAYERS,
        MASK,
        None,
        name="remat",
    ),
    Example(Build("FlaxBertPooler", bert_config()), LAYERS),
    Example(Build("FlaxBertModule", bert_config()), *BERT_ARGUMENTS),
    Example(
        Build("FlaxBertModule", bert_config(), add_pooling_layer=False),
        *BERT_ARGUMENTS,
        name="no pooler",
    ),
    Example(
        Build("FlaxBertForPreTrainingModule", bert_config()),
        *BERT_ARGUMENTS,
    ),
    Example(
        Build("FlaxBertForMaskedLMModule", bert_config()),
        *BERT_ARGUMENTS,
    ),
    Example(
        Build("FlaxBertForMaskedLMModule", bert_config(tie_word_embeddings=False)),
        *BERT_ARGUMENTS,
        name="untied",
    ),
    Example(
        Build("FlaxBertForNextSentencePredictionModule", bert_config()),
        *BERT_ARGUMENTS,
    ),
    Example(
        Build("FlaxBertForSequenceClassificationModule", bert_config()),
        *BERT_ARGUMENTS,
    ),
    Example(
        Build("FlaxBertForMultipleChoiceModule", bert_config()),
        *(each[:, None] for each in (IDS, MASK, TYPES, POSITIONS)),
        None,
    ),
    Example(
        Build("FlaxBertForTokenClassificationModule", bert_config()),
        *BERT_ARGUMENTS,
    ),
    Example(
        Build("FlaxBertForQuestionAnsweringModule", bert_config()),
        *BERT_ARGUMENTS,
    ),
    Example(
        Build("FlaxBertForCausalLMModule", bert_config(is_decoder=True)),
        IDS,
        MASK,
        POSITIONS,
        init_cache=True,
        mutable=("cache",),
    ),
]


def distilbert_config(**settings):
    """Return a small configuration."""
    sizes = {"vocab_size": 11, "dim": 8, "hidden_dim": 12, "n_layers": 2, "n_heads": 2}
    return Build("DistilBertConfig", max_position_embeddings=16, **{**sizes, **settings})


EXAMPLES["transformers/models/distilbert/modeling_flax_distilbert.py"] = [
    Example(Build("FlaxTransformer", distilbert_config()), wave(2, 5, 8), MASK),
    Example(
        Build("FlaxTransformer", distilbert_config()),
        wave(2, 5, 8),
        MASK,
        output_attentions=True,
        name="attentions",
    ),
    Example(Build("FlaxDistilBertModule", distilbert_config()), IDS, MASK),
    Example(Build("FlaxDistilBertForMaskedLMModule", distilbert_config()), IDS, MASK),
    Example(
        Build(
            "FlaxDistilBertForMaskedLMModule",
            distilbert_config(tie_word_embeddings=False),
        ),
        IDS,
        MASK,
        name="untied",
    ),
    Example(
        Build("FlaxDistilBertForSequenceClassificationModule", distilbert_config()),
        IDS,
        MASK,
    ),
]


def gpt2_config(**settings):
    """Return a small configuration."""
    return Build(
        "GPT2Config", vocab_size=11, n_embd=8, n_layer=2, n_head=2, n_positions=16, **settings
    )


EXAMPLES["transformers/models/gpt2/modeling_flax_gpt2.py"] = [
    Example(Build("FlaxConv1D", 6), wave(2, 5, 8)),
    Example(Build("FlaxGPT2Attention", gpt2_config()), wave(2, 5, 8)),
    Example(Build("FlaxGPT2MLP", gpt2_config(), 12), wave(2, 5, 8)),
    Example(Build("FlaxGPT2Block", gpt2_config()), wave(2, 5, 8), MASK),
    Example(
        Build("FlaxGPT2Block", gpt2_config(add_cross_attention=True)),
        wave(2, 5, 8),
        MASK,
        encoder_hidden_states=wave(2, 5, 8) + 1,
        encoder_attention_mask=MASK,
        name="cross attention",
    ),
    Example(Build("FlaxGPT2BlockCollection", gpt2_config()), wave(2, 5, 8), MASK),
    Example(Build("FlaxGPT2Module", gpt2_config()), IDS, MASK, POSITIONS),
    Example(Build("FlaxGPT2LMHeadModule", gpt2_config()), IDS, MASK, POSITIONS),
    Example(
        Build("FlaxGPT2LMHeadModule", gpt2_config(tie_word_embeddings=False)),
        IDS,
        MASK,
        POSITIONS,
        init_cache=True,
        return_dict=False,
        mutable=("cache",),
        name="untied, cached",
    ),
]
