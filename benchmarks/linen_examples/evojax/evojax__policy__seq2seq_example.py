"""Example calls for evojax/policy/seq2seq.py of evojax 0.2.17."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("EncoderLSTM"), ((wave(2, 8), wave(2, 8)), jnp.zeros(2, bool)), wave(2, 6, 8)),
    Example(Build("Encoder", hidden_size=8), wave(2, 6, 8)),
    Example(
        Build("DecoderLSTM", teacher_force=True),
        ((wave(2, 8), wave(2, 8)), jnp.zeros((2, 15))),
        wave(2, 6, 15),
    ),
    Example(
        Build("Decoder", init_state=(wave(2, 8), wave(2, 8)), teacher_force=True), wave(2, 6, 15)
    ),
    Example(Build("Seq2seq", teacher_force=True, hidden_size=8), wave(2, 6, 15), wave(2, 5, 15)),
]
