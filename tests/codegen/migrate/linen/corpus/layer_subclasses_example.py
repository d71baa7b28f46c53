import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
IMAGES = jnp.linspace(-1.0, 1.0, 144).reshape(2, 6, 6, 2)
EXAMPLES = [
    Example(Build("PlainDense", 4), X),
    Example(Build("Dense", 4), X),
    Example(Build("General", (2, 3)), X),
    Example(Build("Gentle", 4), X),
    Example(Build("FineNorm"), X),
    Example(Build("SmallConv", 3, (3, 3)), IMAGES),
    Example(Build("NoBiasSmallConv", 3, (2, 2)), IMAGES),
    Example(Build("Slow"), IMAGES, mutable=("batch_stats",)),
    Example(Build("Block", 4), X),
    Example(Build("DerivedLayers"), X),
    Example(
        Build("DerivedConvolutions"),
        jnp.linspace(-1.0, 1.0, 144).reshape(2, 6, 6, 2),
        mutable=("batch_stats",),
    ),
]
