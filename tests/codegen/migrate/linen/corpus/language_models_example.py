"""How the decoders of text are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

TOKENS = jnp.arange(10).reshape(2, 5)
HIDDEN = jnp.cos(jnp.arange(2 * 5 * 6.0)).reshape(2, 5, 6)
WIDE = jnp.cos(jnp.arange(2 * 5 * 8.0)).reshape(2, 5, 8)
MASK = jnp.tril(jnp.ones((1, 1, 5, 5), bool))
LLAMA = Build("LlamaConfig")
TIED = Build("LlamaConfig", tie_word_embeddings=True, num_hidden_layers=3)

EXAMPLES = [
    Example(Build("CausalSelfAttention", 2), HIDDEN, MASK, deterministic=True),
    Example(Build("CausalSelfAttention", 3, deterministic=True, use_proj_bias=False), HIDDEN, MASK),
    Example(Build("MLP", Build("GPTConfig")), HIDDEN, True),
    Example(Build("Block", Build("GPTConfig")), HIDDEN, MASK, deterministic=True),
    Example(
        Build("Block", Build("GPTConfig", norm=Build("NormConfig", 1e-3, False))),
        HIDDEN,
        MASK,
        True,
    ),
    Example(Build("GPT", Build("GPTConfig")), TOKENS, deterministic=True),
    Example(Build("GPT", Build("GPTConfig", num_layers=1, use_bias=False)), TOKENS, True),
    Example(Build("RMSNorm", 6), HIDDEN),
    Example(Build("LlamaAttention", LLAMA), WIDE),
    Example(Build("LlamaMLP", LLAMA), WIDE),
    Example(Build("LlamaLayer", LLAMA), WIDE),
    Example(Build("LlamaLayers", LLAMA), WIDE, output_hidden_states=True),
    Example(Build("LlamaForCausalLM", LLAMA), TOKENS),
    Example(Build("LlamaForCausalLM", TIED), TOKENS, output_hidden_states=True),
    Example(Build("TiedLogits", 4), HIDDEN, WIDE[0]),
]
