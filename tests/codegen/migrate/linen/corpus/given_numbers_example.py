import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(24.0)).reshape(2, 4, 3)
EXAMPLES = [
    Example(Build("Widened"), X, 5),
    Example(Build("Widened"), X, features=2, name="Widened by keyword"),
    Example(Build("WidenedByDefault"), X),
    Example(Build("WidenedByDefault"), X, 2, name="WidenedByDefault, told"),
    Example(Build("PassesOn"), X, 7),
    Example(Build("Filters", 4), X),
    Example(Build("Projected"), X, (2, 4, 8)),
    Example(Build("Projected"), X, (2, 4, 3), name="Projected, equal"),
    Example(Build("Residual", 4), X),
    Example(Build("Residual", 3), X, name="Residual, equal"),
    Example(Build("TwoMethods"), X, 6),
    Example(Build("WindowOfCall"), X, 2),
    Example(Build("Repeats", 2, 5), X),
    Example(Build("RepeatsOfCall"), X, 2, 5),
]
