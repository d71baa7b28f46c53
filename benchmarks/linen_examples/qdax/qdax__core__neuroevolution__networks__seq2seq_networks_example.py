"""Example calls for qdax/core/neuroevolution/networks/seq2seq_networks.py of qdax 0.5.0."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave

SEQ2SEQ = Build("Seq2seq", teacher_force=True, hidden_size=8, obs_size=8)

EXAMPLES = [
    Example(
        Build("EncoderLSTM"), ((wave(2, 8), wave(2, 8)), jnp.array([False, True])), wave(2, 5, 3)
    ),
    Example(Build("Encoder", hidden_size=8), wave(2, 5, 3)),
    Example(
        Build("DecoderLSTM", teacher_force=False, obs_size=3),
        ((wave(2, 8), wave(2, 8)), wave(2, 3)),
        wave(2, 5, 3),
        rngs=("lstm",),
    ),
    Example(
        Build("Decoder", teacher_force=True, obs_size=3),
        wave(2, 5, 3),
        (wave(2, 8), wave(2, 8)),
        rngs=("lstm",),
    ),
    Example(SEQ2SEQ, wave(2, 6, 8), wave(2, 5, 8)),
    Example(
        Build("Seq2seq", teacher_force=False, hidden_size=8, obs_size=8),
        wave(2, 6, 8),
        wave(2, 5, 8),
        rngs=("lstm",),
        name="without teacher",
    ),
    Example(SEQ2SEQ, wave(2, 6, 8), method="encode", name="encode"),
]
