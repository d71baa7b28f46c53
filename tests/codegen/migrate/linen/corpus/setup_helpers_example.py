"""Calls of the modules whose `setup` has functions that build submodules."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.linspace(-1.0, 1.0, 24).reshape(2, 3, 4)

EXAMPLES = [
    Example(Build("Stack", 2), X),
    Example(Build("LocalHelper", 5, 3), X),
    Example(Build("LocalHelper", (6, 5), (7, 3)), X),
    Example(Build("LocalHelper", None, (7, 3)), X),
    Example(Build("LocalHelper", 5), X),
    Example(Build("ShortHelper", (5, 6)), X),
    Example(Build("ShortHelper", (5,), use_bias=False), X),
    Example(Build("HelperOfNumbers", 3), X),
    Example(Build("UsedElsewhere", (5, 6)), X),
    Example(Build("NoneFirst"), X),
    Example(Build("NoneFirst", 5), X),
    Example(Build("NoneFirstAsked"), X),
    Example(Build("NoneFirstAsked", 5), X),
]
