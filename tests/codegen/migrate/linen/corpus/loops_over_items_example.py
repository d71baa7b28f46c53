"""Examples for `loops_over_items.py`."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.arange(10.0).reshape(2, 5) / 7
W = (6, 4, 8)

EXAMPLES = [
    Example(Build("Counted", 3), X),
    Example(Build("Enumerated", W), X),
    Example(Build("Framed", W), X),
    Example(Build("Zipped", W, (1.0, 2.0, 0.5)), X),
    Example(Build("EnumeratedPairs", W, (1.0, 2.0, 0.5)), X),
    Example(Build("EitherSide", W), X),
    Example(Build("Sometimes", W), X),
    Example(Build("Sometimes", W, is_normed=False), X, name="Sometimes, without"),
    Example(Build("Twice", 2), X),
    Example(Build("Chosen", W), X),
    Example(Build("Ensemble", 2), X),
]
