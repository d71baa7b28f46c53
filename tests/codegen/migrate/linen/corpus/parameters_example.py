"""How the modules with parameters of their own are built and called."""

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)

EXAMPLES = [
    Example(Build("ExplicitDense", 4), X),
    Example(Build("ExplicitDense", 4, nn.initializers.normal(0.3), nn.initializers.ones), X),
    Example(Build("SetupParams", 6, 4), X),
    Example(Build("PromptedEncoder", 3), SEQ),
    Example(Build("PerHeadScale", 3), SEQ),
    Example(Build("LowPrecision", 4), X),
    Example(Build("LowPrecision", 4, dtype=jnp.float32, use_bias=False, split=(1, 2)), X),
]
