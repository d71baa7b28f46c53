"""How the norms are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(20.0)).reshape(4, 5)
SEQ = jnp.sin(jnp.arange(2 * 4 * 5.0)).reshape(2, 4, 5)
BN = ("batch_stats",)

EXAMPLES = [
    Example(Build("LayerNormFP32", 5), SEQ),
    Example(Build("LayerNormFP32", dim=5, elementwise_affine=False), SEQ),
    Example(Build("RunningNorm"), X),
    Example(Build("RunningNorm"), X, update=True, mutable=("obs_stats",)),
    Example(Build("CrossNorm"), X, X + 1, train=True, mutable=BN),
    Example(Build("CrossNorm", use_batch_norm=False), X, X + 1, train=False),
    Example(Build("NormFactory"), X),
    Example(Build("NormFactory", kind="group"), X),
    Example(Build("NormFactory", "rms"), X),
    Example(Build("NormFactory", "batch"), X),
    Example(Build("NormFactory", "batch", train=True), X, mutable=BN),
    Example(Build("NormFactory", "instance"), SEQ),
    Example(Build("NormFactory", "none"), X),
    Example(Build("SpectralMLP", (6, 4)), X, train=False),
    Example(Build("SpectralMLP", (6, 4)), X, train=True, mutable=BN),
    Example(Build("WeightNormed", 6), SEQ),
    Example(Build("NormedEnsemble"), SEQ),
    Example(Build("BatchStatsReader"), SEQ, train=True, mutable=BN),
    Example(Build("BatchStatsReader"), SEQ),
]
