"""How the modules whose fields are of the call are built and called."""

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
BN = ("batch_stats",)
NORM = Build("functools.partial", Build.ref("flax.linen.BatchNorm"), use_running_average=True)

EXAMPLES = [
    Example(Build("Block", 4, train=False), X),
    Example(Build("Block", 4, train=True, rate=0.0), X, mutable=BN),
    Example(Build("BlockUser"), X, train=False),
    Example(Build("BlockUser"), X, mutable=BN),
    Example(Build("Outer"), X),
    Example(Build("OuterUser"), X, False),
    Example(Build("Merged", True), X),
    Example(Build("Merged"), X, deterministic=True),
    Example(Build("MergedUser"), X),
    Example(Build("MaskedMean", X[:, :1]), X),
    Example(Build("MaskedMeanUser"), X, X[:, :1]),
    Example(Build("Taken"), X),
    Example(Build("Taken", True), X),
    Example(Build("TakenUser"), X, True),
    Example(Build("InPartial"), X, train=False),
    Example(Build("NormBlock", NORM, nn.relu), X),
    Example(Build("NormStage", NORM, 1), X),
    Example(Build("NormUser"), X, mutable=BN),
    Example(Build("NormUser"), X, train=False),
    Example(Build("DropField"), X),
]
