"""Example calls for the modules of evojax 0.2.17, by file."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES: dict[str, list[Example]] = {}

EXAMPLES["evojax/policy/convnet.py"] = [Example(Build("CNN"), wave(2, 16, 16, 3))]

EXAMPLES["evojax/policy/mlp.py"] = [
    Example(Build("MLP", feat_dims=(8, 8), out_dim=3, out_fn="tanh"), wave(2, 8))
]

EXAMPLES["evojax/policy/mlp_pi.py"] = [
    Example(
        Build(
            "AttentionNeuronMLP",
            act_dim=3,
            msg_dim=4,
            hidden_dim=6,
            pos_em_dim=8,
            pos_em=np.sin(np.arange(48.0, dtype=np.float32)).reshape(6, 8),
        ),
        wave(5),
        wave(3),
        (wave(5, 8), wave(5, 8)),
    )
]

EXAMPLES["evojax/policy/seq2seq.py"] = [
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
