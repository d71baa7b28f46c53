"""Example calls for the modules of sbx_rl 0.28.0, by file."""

from typing import Any

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES: dict[str, list[Example]] = {}
TRAINING: dict[str, Any] = {"train": True, "mutable": ("batch_stats",), "name": "training"}

EXAMPLES["sbx/common/jax_layers.py"] = [
    Example(Build("BatchRenorm"), wave(2, 8), use_running_average=True),
    Example(Build("BatchRenorm", use_bias=False), wave(2, 8), use_running_average=True),
    Example(Build("BatchRenorm", use_scale=False), wave(2, 8), use_running_average=True),
    Example(
        Build("BatchRenorm"),
        wave(4, 8),
        use_running_average=False,
        mutable=("batch_stats",),
        name="training",
    ),
    Example(Build("SimbaResidualBlock", hidden_dim=8), wave(2, 8)),
    Example(Build("NatureCNN"), wave(2, 3, 64, 64)),
]

EXAMPLES["sbx/common/policies.py"] = [
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

EXAMPLES["sbx/crossq/crossq.py"] = [
    Example(Build("EntropyCoef")),
    Example(Build("ConstantEntropyCoef")),
]

EXAMPLES["sbx/crossq/policies.py"] = [
    Example(Build("Critic", net_arch=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(Build("Critic", net_arch=(8, 8)), wave(2, 8), wave(2, 3), **TRAINING),
    Example(Build("Critic", net_arch=(8, 8), use_layer_norm=True), wave(2, 8), wave(2, 3)),
    Example(Build("Critic", net_arch=(8, 8), use_batch_norm=False), wave(2, 8), wave(2, 3)),
    Example(Build("SimbaCritic", net_arch=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(Build("SimbaCritic", net_arch=(8, 8)), wave(2, 8), wave(2, 3), **TRAINING),
    Example(Build("VectorCritic", net_arch=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(Build("VectorCritic", net_arch=(8, 8)), wave(2, 8), wave(2, 3), **TRAINING),
    Example(Build("VectorCritic", net_arch=(8, 8), use_layer_norm=True), wave(2, 8), wave(2, 3)),
    Example(Build("VectorCritic", net_arch=(8, 8), use_batch_norm=False), wave(2, 8), wave(2, 3)),
    Example(Build("SimbaVectorCritic", net_arch=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(Build("SimbaVectorCritic", net_arch=(8, 8)), wave(2, 8), wave(2, 3), **TRAINING),
    Example(Build("SimbaActor", net_arch=(8, 8), action_dim=3), wave(2, 8)),
    Example(Build("SimbaActor", net_arch=(8, 8), action_dim=3), wave(2, 8), **TRAINING),
    Example(Build("Actor", net_arch=(8, 8), action_dim=3), wave(2, 8)),
    Example(Build("Actor", net_arch=(8, 8), action_dim=3), wave(2, 8), **TRAINING),
    Example(Build("Actor", net_arch=(8, 8), action_dim=3, use_batch_norm=False), wave(2, 8)),
]

EXAMPLES["sbx/dqn/policies.py"] = [
    Example(Build("QNetwork", n_actions=3), wave(2, 8)),
    Example(Build("CnnQNetwork", n_actions=3), wave(2, 3, 64, 64)),
]

EXAMPLES["sbx/ppo/policies.py"] = [
    Example(Build("Critic", net_arch=(8, 8)), wave(2, 8)),
    Example(Build("Actor", action_dim=3, net_arch=(8, 8)), wave(2, 8)),
]

EXAMPLES["sbx/sac/sac.py"] = [Example(Build("EntropyCoef")), Example(Build("ConstantEntropyCoef"))]

EXAMPLES["sbx/td3/policies.py"] = [
    Example(Build("Actor", net_arch=(8, 8), action_dim=3), wave(2, 8))
]

EXAMPLES["sbx/tqc/tqc.py"] = [Example(Build("EntropyCoef")), Example(Build("ConstantEntropyCoef"))]
