"""Calls of the modules of `lax_loops.py`."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

_X = jnp.linspace(-1.0, 1.0, 20).reshape(4, 5)

EXAMPLES = [
    Example(Build("MappedAttention", 6, 3), _X),
    Example(Build("ScannedSums", 4), _X),
    Example(Build("ScannedCount"), _X),
    Example(Build("CarriedByLayers"), _X),
    Example(Build("SplitInTheMiddle", 6), jnp.ones((2, 3, 5))),
    Example(Build("SplitInTheMiddle", 6), jnp.ones((2, 3, 4, 5)), name="four axes"),
    Example(Build("GatedBlock", 6), jnp.ones((2, 3, 5))),
    Example(Build("FoldedPieces"), _X),
]
