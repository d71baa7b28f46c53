"""How the modules with loops are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("SkipUNet"), IMAGES),
    Example(Build("SkipUNet", (2, 3, 5)), IMAGES),
    Example(Build("FeaturePyramid", (3, 4), 5), IMAGES),
    Example(Build("ChannelBlock", 3, 4), IMAGES),
    Example(Build("ChannelBlock", 3, 3), IMAGES),
    Example(Build("SetupUNet"), IMAGES),
    Example(Build("DownBlock", 3, 4), IMAGES),
    Example(Build("UpBlock", 3, 4), IMAGES, (IMAGES[..., :2],)),
    Example(Build("ZippedSettings"), IMAGES),
    Example(Build("ZippedSettings", (3,), (2,), (4,), dense=(5, 6)), IMAGES),
    Example(Build("WhileLoop", 8), X),
    Example(Build("PairLoop", (6, 5, 4)), X),
    Example(Build("Pyramid", 3), X),
    Example(Build("UntilBreak", (5, 0, 4)), X),
    Example(Build("UntilBreak", (5, -1, 4)), X),
]
