import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
EXAMPLES = [
    Example(Build("Base"), X),
    Example(Build("ReadsItsFile"), X),
]
