"""How the modules with masks, lists of parameters and states are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("NoMask"), X),
    Example(Build("NoMaskArg"), X),
    Example(Build("NoMaskArg"), X, mask=X > 0.1),
    Example(Build("NoMaskBatch"), X),
    Example(Build("NoMaskBatch"), X, train=True, mutable=["batch_stats"]),
    Example(Build("NoMaskRMS"), X),
    Example(Build("ParamList"), X),
    Example(Build("ParamListLoop"), X),
    Example(Build("ParamTuple"), X),
    Example(Build("ParamDict"), X),
    Example(Build("PartitionedLocal"), X),
    Example(Build("ParamByField"), X),
    Example(Build("ParamByField", "other"), X),
    Example(Build("ParamByPrefix"), X),
    Example(Build("GrowsMean"), X, mutable=["stats"]),
]
