import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 24).reshape(2, 3, 4)
Z = jnp.full((2, 4), 0.1)
EXAMPLES = [
    Example(Build("TwoLayerCell", 4), ((Z, Z), (Z, -Z)), X[:, 0]),
    Example(Build("UsesCell"), X),
    Example(Build("RunsCell"), X),
]
