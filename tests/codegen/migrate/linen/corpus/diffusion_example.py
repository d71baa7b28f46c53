"""How the diffusion models are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)
FEATURES = jnp.sin(jnp.arange(2 * 4 * 4 * 6.0)).reshape(2, 4, 4, 6)
TIMES = jnp.array([0.25, 3.0])
TEMB = jnp.cos(jnp.arange(10.0)).reshape(2, 5)
TOKENS = jnp.cos(jnp.arange(2 * 5 * 6.0)).reshape(2, 5, 6)

EXAMPLES = [
    Example(Build("SinusoidalPosEmb", 6), TIMES),
    Example(Build("FourierFeatures", 8), TIMES[:, None]),
    Example(Build("FourierFeatures", 8, learnable=False), TIMES[:, None]),
    Example(Build("ResnetBlock"), FEATURES, TEMB),
    Example(Build("ResnetBlock", 4, groups=2), FEATURES, None, train=False),
    Example(Build("SpatialAttention", num_heads=3), FEATURES),
    Example(Build("Downsample"), FEATURES),
    Example(Build("Downsample", with_conv=False), FEATURES),
    Example(Build("Upsample"), FEATURES),
    Example(Build("UNet", 4, 3), IMAGES, TIMES),
    Example(
        Build("UNet", 4, 3, (1, 2, 3), num_res_blocks=2, num_classes=5),
        IMAGES,
        TIMES,
        jnp.array([1, 4]),
    ),
    Example(Build("DiTBlock", 6, 2), TOKENS, TEMB),
    Example(Build("DiT", patch_size=4, hidden_size=6, depth=2, num_heads=3), IMAGES, TIMES),
    Example(
        Build(
            "ScoreMLP",
            Build("functools.partial", Build.ref("CondMLP"), (6, 4)),
            Build("functools.partial", Build.ref("CondMLP"), (7, 3)),
            Build("functools.partial", Build.ref("FourierFeatures"), 8),
        ),
        jnp.ones((2, 5)),
        jnp.ones((2, 3)),
        TIMES[:, None],
    ),
    Example(Build("CondMLP", (6, 4)), TEMB),
]
