"""Calls of the modules whose layers loops collect."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 24).reshape(6, 4)
IMAGES = jnp.linspace(-1.0, 1.0, 2 * 8 * 8 * 3).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("LastWithoutActivation", (5, 6)), X),
    Example(Build("LastWithoutActivation", (5,), nn.relu, last=3), X),
    Example(Build("ConvThenFlat", (4, 6), (7, 2)), IMAGES),
    Example(Build("NamedItems", (5, 6)), X),
    Example(Build("SharedByTwo", (5, 6)), X),
    Example(Build("FilledByFunctions"), X),
    Example(Build("FilledByFunctions", 1), X),
    Example(Build("WithArgumentCompact"), X, 2.0),
    Example(Build("LoopOfParts", (5, 6)), X),
    Example(Build("OfComprehension"), X),
    Example(Build("OfComprehensionCompact"), X),
    Example(Build("ListsInSetup", (2, 1, 3), (5, 6, 3)), X),
    Example(Build("AppendedListsInSetup", (2, 1, 3), (5, 6, 3)), X),
    Example(Build("BetweenOthers"), X),
    Example(Build("SumOfAll", (5, 6)), X),
]
