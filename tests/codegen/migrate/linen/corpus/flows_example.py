"""How the flows are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
ODD = jnp.sin(jnp.arange(15.0)).reshape(3, 5)
MASK = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0), (1.0, 0.0))

EXAMPLES = [
    Example(Build("CouplingNet", 4, 3), X),
    Example(Build("AffineCoupling", 4), X),
    Example(Build("AffineCoupling", 4), ODD, reverse=True),
    Example(Build("AffineCoupling", 4, flip=True), ODD),
    Example(Build("ActNorm"), X),
    Example(Build("ActNorm"), X, reverse=True),
    Example(Build("RealNVP", 2, 4), X),
    Example(Build("RealNVP", 3, hidden=4), X, method="inverse"),
    Example(Build("RealNVP", 2, 4), X, method="log_prob"),
    Example(Build("MaskedDense", 2, mask=MASK), ODD),
    Example(Build("MADE", (7, 8)), X),
    Example(Build("PlanarFlow"), X),
    Example(Build("FlowSequence", [Build("PlanarFlow"), Build("AffineCoupling", 4)]), X),
    Example(Build("HalvesInTurn", 6, True), X, X[:, 0]),
    Example(Build("FlowOfHalves", 3), X),
    Example(Build("FlowOfHalves", 3), X, reverse=True),
]
