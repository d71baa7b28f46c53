"""Calls of the modules with lists whose ends stand apart."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 6).reshape(2, 3)
FEATURES = (4, 8, 5)

EXAMPLES = [
    *(Example(Build(name, FEATURES), X) for name in ("LastApart", "LastByPlace", "OneNormLess")),
    *(Example(Build(name, (6,)), X) for name in ("LastApart", "LastByPlace", "OneNormLess")),
    *(Example(Build(name, FEATURES), X) for name in ("SizesOfEnds", "BeforeTheEnd", "Summed")),
    Example(Build("Summed", ()), X),
    *(Example(Build(name), X) for name in ("OtherLast", "SummedOfOneSize")),
]
