"""Calls of the modules with lists of arrays."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)


def arrays(*sizes):
    """Return arrays of some sizes."""
    return [jnp.sin(jnp.arange(2.0 * size)).reshape(2, size) for size in sizes]


EXAMPLES = [
    Example(Build("Annotated", (4, 6)), X, arrays(3, 2)),
    Example(Build("ZippedWithSizes", (4, 6)), X, arrays(3, 2)),
    Example(Build("DownsFirst", (4, 6, 3)), X),
    Example(Build("ZippedWithParts", (4, 6, 3)), X),
    Example(Build("Indexed", (4, 6, 3)), X),
    Example(Build("SharedHead"), arrays(3, 3)),
    Example(Build("SharedHeadLoop"), arrays(3, 3)),
    Example(Build("Counted"), arrays(3, 4)),
    Example(Build("Rows"), jnp.ones((3, 2, 4))),
    Example(Build("UpsFirst", (4, 6, 3)), X),
    Example(Build("Odd", (4, 6, 3)), X),
    Example(Build("Block", 4), X),
    Example(Build("HeadsTogether", 6, 3), X),
    Example(Build("PartsOfOne", 6, 3), X),
    Example(Build("HeadsBeside", 3), X, jnp.arange(4).reshape(2, 2)),
    Example(Build("HeadsChanged", 3), X),
]
