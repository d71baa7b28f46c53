import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1, 1.5, 10).reshape(2, 5)

EXAMPLES = [
    Example(Build("RematByKeyword"), X, mutable=("batch_stats",), train=True),
    Example(Build("RematMethods", 4), X),
    Example(Build("UsesJitted"), X, mutable=("batch_stats",), train=True),
    Example(Build("SharedScopes"), X),
    Example(Build("InCompact"), X),
]
