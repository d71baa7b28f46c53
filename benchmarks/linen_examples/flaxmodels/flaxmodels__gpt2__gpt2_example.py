"""Example calls for flaxmodels/gpt2/gpt2.py of flaxmodels 0.1.3."""

from types import SimpleNamespace

from typed_nnx_codegen.verify.examples import Build, Example, wave

CONFIG = SimpleNamespace(
    vocab_size=11,
    n_positions=16,
    n_ctx=16,
    n_embd=8,
    n_head=2,
    n_layer=2,
    n_inner=None,
    attn_pdrop=0.1,
    resid_pdrop=0.1,
    embd_pdrop=0.1,
    layer_norm_epsilon=1e-05,
    initializer_range=0.02,
    scale_attn_weights=True,
    activation_function="gelu_new",
)

EXAMPLES = [
    Example(Build("GPT2SelfAttention", config=CONFIG), wave(2, 6, 8)),
    Example(Build("GPT2MLP", intermediate_dim=16, config=CONFIG), wave(2, 6, 8)),
    Example(Build("GPT2Block", config=CONFIG), wave(2, 6, 8)),
]
