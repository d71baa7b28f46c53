"""Example calls for sbx/common/policies.py of sbx_rl 0.28.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("Flatten"), wave(2, 8)),
    Example(Build("ContinuousCritic", net_arch=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(
        Build("ContinuousCritic", net_arch=(8, 8), use_layer_norm=True), wave(2, 8), wave(2, 3)
    ),
    Example(Build("SimbaContinuousCritic", net_arch=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(Build("VectorCritic", net_arch=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(Build("VectorCritic", net_arch=(8, 8), use_layer_norm=True), wave(2, 8), wave(2, 3)),
    Example(Build("SimbaVectorCritic", net_arch=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(Build("SquashedGaussianActor", net_arch=(8, 8), action_dim=3), wave(2, 8)),
    Example(Build("SimbaSquashedGaussianActor", net_arch=(8, 8), action_dim=3), wave(2, 8)),
]
