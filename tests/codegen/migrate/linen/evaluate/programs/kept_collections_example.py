"""How the modules with collections of variables are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(8.0)).reshape(2, 4)
TOKEN = jnp.cos(jnp.arange(8.0)).reshape(2, 1, 4)
STATS = ("batch_stats",)

EXAMPLES = [
    Example(Build("OwnBatchNorm"), X, train=True, mutable=STATS),
    Example(Build("OwnBatchNorm"), X, train=False),
    Example(Build("GrowsAndChangesType"), X, mutable=("seen",)),
    Example(Build("KeyValueCache", 5), TOKEN, mutable=("cache",)),
    Example(Build("CounterInSetup", 3), X, mutable=("counts",)),
    Example(Build("Holder"), X, mutable=("batch_stats", "counts")),
    Example(Build("Sown"), X, mutable=("intermediates",)),
    Example(Build("Streams"), X),
    Example(Build("Streams"), X, noisy=True, rngs=("dropout", "noise"), name="random"),
    Example(Build("CachedHeads"), X[:, None]),
    Example(Build("CachedHeads", decode=True), TOKEN, mutable=("cache",)),
]
