"""Example calls for sbx/common/jax_layers.py of sbx_rl 0.28.0."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
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
