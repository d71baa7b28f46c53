import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
EXAMPLES = [
    Example(Build("Derived"), X),
    Example(Build("Derived", 4, more=2), X),
    Example(Build("ReadsTheOther"), X),
]
