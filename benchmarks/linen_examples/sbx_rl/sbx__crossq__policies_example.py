"""Example calls for sbx/crossq/policies.py of sbx_rl 0.28.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("Critic", net_arch=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(
        Build("Critic", net_arch=(8, 8)),
        wave(2, 8),
        wave(2, 3),
        train=True,
        mutable=("batch_stats",),
        name="training",
    ),
    Example(Build("Critic", net_arch=(8, 8), use_layer_norm=True), wave(2, 8), wave(2, 3)),
    Example(Build("Critic", net_arch=(8, 8), use_batch_norm=False), wave(2, 8), wave(2, 3)),
    Example(Build("SimbaCritic", net_arch=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(
        Build("SimbaCritic", net_arch=(8, 8)),
        wave(2, 8),
        wave(2, 3),
        train=True,
        mutable=("batch_stats",),
        name="training",
    ),
    Example(Build("VectorCritic", net_arch=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(
        Build("VectorCritic", net_arch=(8, 8)),
        wave(2, 8),
        wave(2, 3),
        train=True,
        mutable=("batch_stats",),
        name="training",
    ),
    Example(Build("VectorCritic", net_arch=(8, 8), use_layer_norm=True), wave(2, 8), wave(2, 3)),
    Example(Build("VectorCritic", net_arch=(8, 8), use_batch_norm=False), wave(2, 8), wave(2, 3)),
    Example(Build("SimbaVectorCritic", net_arch=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(
        Build("SimbaVectorCritic", net_arch=(8, 8)),
        wave(2, 8),
        wave(2, 3),
        train=True,
        mutable=("batch_stats",),
        name="training",
    ),
    Example(Build("SimbaActor", net_arch=(8, 8), action_dim=3), wave(2, 8)),
    Example(
        Build("SimbaActor", net_arch=(8, 8), action_dim=3),
        wave(2, 8),
        train=True,
        mutable=("batch_stats",),
        name="training",
    ),
    Example(Build("Actor", net_arch=(8, 8), action_dim=3), wave(2, 8)),
    Example(
        Build("Actor", net_arch=(8, 8), action_dim=3),
        wave(2, 8),
        train=True,
        mutable=("batch_stats",),
        name="training",
    ),
    Example(Build("Actor", net_arch=(8, 8), action_dim=3, use_batch_norm=False), wave(2, 8)),
]
