import itertools

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
BOTH = list(itertools.product((False, True), repeat=2))
EXAMPLES = [
    *(Example(Build("SkipOrNot", 2, *flags), X, name=f"SkipOrNot {flags}") for flags in BOTH),
    *(Example(Build("Nested", *flags), X, name=f"Nested {flags}") for flags in BOTH),
    Example(Build("Conditioned", 2, 0), X),
    Example(Build("Conditioned", 2, 1), X, X + 1, name="Conditioned, both"),
    Example(Build("Conditioned", 0, 1), X, X + 1, name="Conditioned, classes"),
    Example(Build("UsedArgument"), X),
    Example(Build("UsedArgument"), X, X + 1, name="UsedArgument, given"),
    Example(Build("UsedArgument", False), X, X + 1, name="UsedArgument, not used"),
    Example(Build("EitherArgument"), X, X + 1),
    Example(Build("EitherArgument"), X, X + 1, flag=False, name="EitherArgument, not used"),
    Example(Build("Before", 2), X),
    Example(Build("AskedByFunction"), X),
    Example(Build("AskedByFunction"), X, X[:, :2], name="AskedByFunction, given"),
]
