"""Example calls for the modules of qdax 0.5.0, by file."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, variants, wave

EXAMPLES: dict[str, list[Example]] = {}

EXAMPLES["qdax/core/neuroevolution/networks/dads_networks.py"] = [
    Example(Build("GaussianMixture", num_dimensions=8, num_components=8), wave(2, 8)),
    Example(
        Build("GaussianMixture", num_dimensions=8, num_components=8, identity_covariance=False),
        wave(2, 8),
    ),
    *variants(
        Example(
            Build("DynamicsNetwork", hidden_layer_sizes=(8, 8), output_size=4),
            wave(2, 8),
            wave(2, 3),
            wave(2, 4),
        ),
        {"identity_covariance": False},
    ),
    Example(Build("Actor", action_size=3, hidden_layer_sizes=(8, 8)), wave(2, 8)),
    Example(Build("Critic", hidden_layer_sizes=(8, 8)), wave(2, 8), wave(2, 3)),
]

EXAMPLES["qdax/core/neuroevolution/networks/diayn_networks.py"] = [
    Example(Build("Actor", action_size=3, hidden_layer_size=(8, 8)), wave(2, 8)),
    Example(Build("Critic", hidden_layer_size=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(Build("Discriminator", num_skills=8, hidden_layer_size=(8, 8)), wave(2, 8)),
]

EXAMPLES["qdax/core/neuroevolution/networks/networks.py"] = [
    Example(Build("MLP", layer_sizes=(8, 8)), wave(2, 8)),
    Example(Build("MLP", layer_sizes=(8, 8), bias=False), wave(2, 8)),
    Example(Build("MLPDC", layer_sizes=(8, 8)), wave(2, 8), wave(2, 8)),
    Example(Build("MLPDC", layer_sizes=(8, 8), bias=False), wave(2, 8), wave(2, 8)),
    Example(Build("QModule", hidden_layer_sizes=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(Build("QModuleDC", hidden_layer_sizes=(8, 8)), wave(2, 8), wave(2, 3), wave(2, 8)),
]

EXAMPLES["qdax/core/neuroevolution/networks/sac_networks.py"] = [
    Example(Build("Actor", action_size=3, hidden_layer_size=(8, 8)), wave(2, 8)),
    Example(Build("Critic", hidden_layer_size=(8, 8)), wave(2, 8), wave(2, 3)),
]

SEQ2SEQ = Build("Seq2seq", teacher_force=True, hidden_size=8, obs_size=8)

EXAMPLES["qdax/core/neuroevolution/networks/seq2seq_networks.py"] = [
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
