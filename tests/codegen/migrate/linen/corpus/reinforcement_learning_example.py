"""How the actors and critics are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

PIXELS = jnp.linspace(0.0, 255.0, 2 * 9 * 9 * 3).reshape(2, 9, 9, 3)

EXAMPLES = [
    Example(Build("PixelEncoder"), PIXELS),
    Example(Build("PixelEncoder", features=(3, 4, 5), strides=(2, 2, 1), padding="SAME"), PIXELS),
    Example(Build("PixelActorCritic", 5, 3), PIXELS),
    Example(Build("PixelActorCritic", 5, 3), PIXELS, jnp.ones((2, 4))),
    Example(
        Build("RecurrentActorCritic", 3, {"FC_DIM": 4, "HIDDEN": 6}),
        jnp.ones((2, 4)),
        (jnp.ones((7, 2, 5)), jnp.zeros((7, 2), bool).at[3, 1].set(True)),
    ),
    Example(Build("ScannedGRU"), jnp.ones((2, 4)), (jnp.ones((6, 2, 4)), jnp.zeros((6, 2), bool))),
    Example(Build("StackedPixels", 4), jnp.ones((6, 5, 2))),
    Example(Build("StackedPixels", 4), jnp.ones((6, 5, 2, 3))),
]
