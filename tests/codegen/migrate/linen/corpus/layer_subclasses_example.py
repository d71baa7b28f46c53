import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
EXAMPLES = [
    Example(Build("Dense", 4), X),
    Example(Build("General", (2, 3)), X),
    Example(Build("Gentle", 4), X),
    Example(Build("DerivedLayers"), X),
]
