"""Example calls for transformers/models/gpt2/modeling_flax_gpt2.py of transformers 4.48.3."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave

IDS = jnp.asarray([[3, 7, 1, 9, 2], [4, 4, 8, 0, 6]])
MASK = jnp.asarray([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])
POSITIONS = jnp.broadcast_to(jnp.arange(5), (2, 5))


def config(**settings):
    """Return a small configuration."""
    return Build(
        "GPT2Config", vocab_size=11, n_embd=8, n_layer=2, n_head=2, n_positions=16, **settings
    )


EXAMPLES = [
    Example(Build("FlaxConv1D", 6), wave(2, 5, 8)),
    Example(Build("FlaxGPT2Attention", config()), wave(2, 5, 8)),
    Example(Build("FlaxGPT2MLP", config(), 12), wave(2, 5, 8)),
    Example(Build("FlaxGPT2Block", config()), wave(2, 5, 8), MASK),
    Example(
        Build("FlaxGPT2Block", config(add_cross_attention=True)),
        wave(2, 5, 8),
        MASK,
        encoder_hidden_states=wave(2, 5, 8) + 1,
        encoder_attention_mask=MASK,
        name="cross attention",
    ),
    Example(Build("FlaxGPT2BlockCollection", config()), wave(2, 5, 8), MASK),
    Example(Build("FlaxGPT2Module", config()), IDS, MASK, POSITIONS),
    Example(Build("FlaxGPT2LMHeadModule", config()), IDS, MASK, POSITIONS),
    Example(
        Build("FlaxGPT2LMHeadModule", config(tie_word_embeddings=False)),
        IDS,
        MASK,
        POSITIONS,
        init_cache=True,
        return_dict=False,
        mutable=("cache",),
        name="untied, cached",
    ),
]
