import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
EXAMPLES = [
    Example(Build("HoldsByMode"), X, mutable=("batch_stats",)),
    Example(Build("HoldsTheHolder"), X, mutable=("batch_stats",)),
    Example(Build("HoldsOthers"), X),
    Example(Build("TakesSkips"), X, (X[:, :2], X[:, :3])),
    Example(Build("TakesRows"), X, X),
    Example(Build("ByMode"), X, mutable=("batch_stats",)),
    Example(Build("BeginsWithInput"), X),
    Example(Build("CenteredByStats"), X, mutable=("stats",)),
]
