"""How the modules with dtypes and partitions are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
TOKENS = jnp.arange(6).reshape(2, 3)

EXAMPLES = [
    Example(Build("PromotedTypes"), X, TOKENS),
    Example(Build("Initializers", scale=0.5), X),
    Example(Build("Partitioned", 4), SEQ),
    Example(Build("PartitionedScan", 2), X),
    Example(Build("PartitionedLayer"), X, None),
    Example(Build("LogicalEmbed", 9, 4), TOKENS),
    Example(Build("LogicalEmbed", 9, 4), X[:, :4], method="attend"),
]
