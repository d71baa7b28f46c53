"""Calls of the modules whose first values follow from shapes."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 24).reshape(3, 2, 4)
ROWS = X.reshape(6, 4)
ACTION = jnp.linspace(-1.0, 2.0, 12).reshape(6, 2)
STATS = ("batch_stats",)

EXAMPLES = [
    Example(Build("OwnNorm"), X, mutable=STATS),
    Example(Build("OwnNorm", axis=(1, 2)), X, mutable=STATS),
    Example(Build("OwnNorm"), X, train=False),
    Example(Build("UsesOwnNorm"), X, mutable=STATS),
    Example(Build("Positions"), X),
    Example(Build("Scaled", 3), X),
    Example(Build("Constants", 3), X),
    Example(Build("Chosen", True), X),
    Example(Build("Chosen", False), X),
    Example(Build("ByRank"), X),
    Example(Build("Inline", 3), X, mutable=("state",)),
    Example(Build("Inline", 3, True), X, mutable=("state",)),
    Example(Build("SlowNorm"), ROWS, False, mutable=STATS),
    Example(Build("SlowNorm", use_scale=False, use_running_average=True), ROWS, mutable=STATS),
    Example(Build("SlowNorm", use_bias=False, use_running_average=False), ROWS, mutable=STATS),
    Example(Build("NormedCritic"), ROWS, ACTION, train=True, mutable=STATS),
    Example(Build("NormedCritic"), ROWS, ACTION),
    Example(Build("NormedCritic", use_norm=False), ROWS, ACTION, mutable=STATS),
    Example(Build("NormedCritics"), ROWS, ACTION, train=True, mutable=STATS),
    Example(Build("NormedBlock", 4), ROWS),
    Example(Build("SlowBlocks"), ROWS, train=True, mutable=STATS),
    Example(Build("SlowBlocks"), ROWS),
    Example(Build("PlainBlocks"), ROWS),
    Example(Build("ScaledAlong"), X),
    Example(Build("ScaledAlong", use_scale=False), ROWS),
    Example(Build("ScaledTwice"), X),
    Example(Build("CountedFromFront"), X),
    Example(Build("CountedFromFront"), ROWS),
    Example(Build("RankOfAnother"), ROWS, X),
]
