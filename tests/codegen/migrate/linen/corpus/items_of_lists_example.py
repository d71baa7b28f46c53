"""Calls of the modules with items of lists."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 6).reshape(2, 3)

EXAMPLES = [
    Example(Build("Scale", 3), X),
    Example(Build("Uses", 4, Build("Scale", 4)), X),
    *(Example(Build(name), X) for name in ("SharedItems", "TurnedItems", "NamedItems")),
    *(Example(Build(name), X) for name in ("Told", "Early", "InLiteral", "EarlyChain")),
    *(Example(Build(name), X) for name in ("FirstItem", "LastItem", "AnyItem")),
]
