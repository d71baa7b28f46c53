import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 24).reshape(2, 3, 4)
EXAMPLES = [
    Example(Build("CellInField"), X),
    Example(Build("GivesCells"), X),
    Example(Build("PartialCell"), X),
]
