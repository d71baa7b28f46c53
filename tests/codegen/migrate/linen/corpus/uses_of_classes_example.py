import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
EXAMPLES = [
    Example(Build("Registered", width=3), X),
    Example(Build("WithConfig"), X),
    Example(Build("Described"), X),
    Example(Build("KeepsByProperty"), X, mutable=("intermediates",)),
    Example(Build("AroundKeeping"), X),
]
