"""How the modules with collections are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
ONE = jnp.sin(jnp.arange(12.0)).reshape(2, 1, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
TOKENS = jnp.arange(6).reshape(2, 3)

EXAMPLES = [
    Example(Build("ExponentialAverage"), X, mutable=("ema",)),
    Example(Build("ExponentialAverage", decay=0.5), X, update=False),
    Example(Build("SownActivations", 4), X, mutable=("intermediates", "losses")),
    Example(Build("SownActivations", 4), X),
    Example(Build("CachedAttention", 2, 5), SEQ),
    Example(Build("CachedAttention", 2, 5, decode=True), ONE, mutable=("cache",)),
    Example(Build("PositionCache", 7, 4), TOKENS),
    Example(Build("PositionCache", 7, 4, decode=True), TOKENS, mutable=("cache",)),
    Example(Build("FreshNoise"), X),
    Example(Build("FreshNoise"), X, rngs=("noise",), name="random"),
    Example(Build("StochasticDepth"), X, deterministic=True),
    Example(Build("StochasticDepth", 0.0, deterministic=False), X),
    Example(Build("StochasticDepth", 0.3), X, False, rngs=("dropout",), name="random"),
    Example(Build("SpectralState", 4), X),
    Example(Build("SpectralState", 4), X, train=True, mutable=("spectral",)),
]
