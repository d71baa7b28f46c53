"""Example calls for qdax/core/neuroevolution/networks/diayn_networks.py of qdax 0.5.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("Actor", action_size=3, hidden_layer_size=(8, 8)), wave(2, 8)),
    Example(Build("Critic", hidden_layer_size=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(Build("Discriminator", num_skills=8, hidden_layer_size=(8, 8)), wave(2, 8)),
]
