import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
EXAMPLES = [
    Example(Build("PlainGated", 4), X, 2.0, train=True),
    Example(Build("RematOfPartitioning"), X, train=True),
    Example(Build("RematOfPartitioning"), X),
    Example(Build("RematOfLinen"), X, train=True),
    Example(Build("OneStatic"), X, train=True),
    Example(Build("OneStatic"), X),
]
