"""Calls of the U-Nets."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

IMAGE = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)
X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
SKIPS = [jnp.cos(IMAGE[..., :2]), jnp.cos(IMAGE[:, :4, :4])]

EXAMPLES = [
    Example(Build("Encoder", (4, 6)), IMAGE),
    Example(Build("Decoder", (6, 4)), IMAGE[:, :2, :2], SKIPS),
    Example(Build("Zipped", (4, 6)), IMAGE),
    Example(Build("BeginsWithInput", (4, 6, 3)), X),
    Example(Build("GrowsLater", (4, 6, 3)), X),
    Example(Build("DownBlock", 4), X),
    Example(Build("UpBlock", 4), X, (X[:, :2], X[:, :3])),
    Example(Build("ConvBlock", 4), IMAGE),
    Example(Build("ByPlace", (4, 6, 3)), X),
]
