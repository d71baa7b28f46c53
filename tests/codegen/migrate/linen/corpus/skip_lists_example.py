"""Examples for `skip_lists.py`."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.arange(10.0).reshape(2, 5) / 7
IMAGE = jnp.arange(96.0).reshape(2, 4, 4, 3) / 50
W = (6, 4, 8)
_OF_WIDTHS = ("Popped", "Zipped", "ByIndex", "Literal", "PlusList", "Handed")

EXAMPLES = [
    *(Example(Build(name, widths=W), X) for name in _OF_WIDTHS),
    Example(Build("Ddpm", 4, (1, 2, 2)), IMAGE),
    Example(Build("Ddpm", 4, (1, 3), 1), IMAGE, name="Ddpm of depth 1"),
    Example(Build("DenselyJoined", 3, 4), X),
    Example(Build("OnCall", W), X, True),
]
