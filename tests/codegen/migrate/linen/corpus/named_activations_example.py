"""How the modules with named activations are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(10.0)).reshape(2, 5)

EXAMPLES = [
    Example(Build("Trunk", (4, 3)), X),
    Example(Build("Trunk", (4,), 2, "none"), X),
    Example(Build("Trunk", (4,), 2, jnp.sin), X),
    Example(Build("TwoHeads"), X),
    Example(Build("TwoHeads", (3,), "relu"), X),
    Example(Build("TwoHeads", (), "none"), X),
    Example(Build("Gated"), X),
    Example(Build("Gated", jnp.tanh), X),
    Example(Build("GatedTwice"), X),
    Example(Build("ExtractorBefore", jnp.tanh), X),
]
