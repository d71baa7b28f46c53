"""Example calls for evojax/policy/mlp_pi.py of evojax 0.2.17."""

import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
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
