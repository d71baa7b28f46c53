"""Example calls for qdax/core/neuroevolution/networks/dads_networks.py of qdax 0.5.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("GaussianMixture", num_dimensions=8, num_components=8), wave(2, 8)),
    Example(
        Build("GaussianMixture", num_dimensions=8, num_components=8, identity_covariance=False),
        wave(2, 8),
    ),
    Example(
        Build("DynamicsNetwork", hidden_layer_sizes=(8, 8), output_size=4),
        wave(2, 8),
        wave(2, 3),
        wave(2, 4),
    ),
    Example(
        Build(
            "DynamicsNetwork", hidden_layer_sizes=(8, 8), output_size=4, identity_covariance=False
        ),
        wave(2, 8),
        wave(2, 3),
        wave(2, 4),
    ),
    Example(Build("Actor", action_size=3, hidden_layer_sizes=(8, 8)), wave(2, 8)),
    Example(Build("Critic", hidden_layer_sizes=(8, 8)), wave(2, 8), wave(2, 3)),
]
