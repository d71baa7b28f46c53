"""Example calls for flaxmodels/resnet/ops.py of flaxmodels 0.1.3."""

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("BatchNorm"), wave(2, 8), use_running_average=True),
    Example(Build("BatchNorm", use_bias=False), wave(2, 8), use_running_average=True),
    Example(Build("BatchNorm", use_scale=False), wave(2, 8), use_running_average=True),
    Example(
        Build("BatchNorm"),
        wave(4, 8),
        use_running_average=False,
        mutable=("batch_stats",),
        name="training",
    ),
]
