"""How the modules with classes in fields are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
TORSO = Build("functools.partial", Build.ref("Mlp"), (5, 7), activate_final=True)

EXAMPLES = [
    Example(Build("Mlp", (5, 4)), X),
    Example(Build("Value", TORSO), X, X[:, :2]),
    Example(Build("ValueUser"), X, X[:, :2]),
    Example(Build("NarrowNet"), X),
    Example(Build("WideNet"), X),
    Example(Build("EitherBlock", Build.ref("Wide"), 3), X),
    Example(Build("SettingsInPartial"), SEQ),
    Example(Build("NormOrNone"), X),
    Example(Build("NormOrNoneUser"), X),
    Example(Build("Given", TORSO), X),
    Example(Build("Given", Build("functools.partial", Build.ref("Wide"), 2), heads=3), X),
]
