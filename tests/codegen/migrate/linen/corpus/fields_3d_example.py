"""How the neural fields are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

POINTS = jnp.sin(jnp.arange(2 * 3 * 3.0)).reshape(2, 3, 3)
VIEWS = jnp.cos(jnp.arange(6.0)).reshape(2, 3)
COORDS = jnp.linspace(0.0, 1.0, 10).reshape(5, 2)

EXAMPLES = [
    Example(Build("RadianceMLP"), POINTS),
    Example(Build("RadianceMLP", net_depth=4, skip_layer=3), POINTS, VIEWS),
    Example(Build("RadianceField"), POINTS, VIEWS),
    Example(Build("RadianceField", same_network=True, use_viewdirs=False), POINTS, VIEWS),
    Example(Build("GaussianEncoding", 4), COORDS),
    Example(Build("EncodedField", 4, (6, 5)), COORDS),
]
