"""How the modules with mappings of settings are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(10.0)).reshape(2, 5)
IMAGES = jnp.sin(jnp.arange(2 * 4 * 4 * 3.0)).reshape(2, 4, 4, 3)

EXAMPLES = [
    Example(Build("Configured", {}, {}), X),
    Example(Build("Configured", {"width": 5}, {"use_bias": False}), X),
    Example(Build("Layers", depth=2), X),
    Example(Build("ConfiguredInSetup", {"depth": 2, "use_bias": False}), X),
    Example(Build("ConfiguredConv", {"strides": 2}), IMAGES),
]
