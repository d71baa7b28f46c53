import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
EXAMPLES = [
    Example(Build("Block", 4), X),
    Example(Build("DerivedLayers"), X),
    Example(
        Build("DerivedConvolutions"),
        jnp.linspace(-1.0, 1.0, 144).reshape(2, 6, 6, 2),
        mutable=("batch_stats",),
    ),
]
