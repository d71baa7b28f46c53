"""How the staged vision models are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)
WIDE_IMAGES = jnp.sin(jnp.arange(2 * 8 * 12 * 3.0)).reshape(2, 8, 12, 3)
TOKENS = jnp.cos(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
EXTRA = jnp.sin(jnp.arange(2 * 3 * 6.0)).reshape(2, 3, 6)
FLAT = jnp.sin(jnp.arange(4 * 6.0)).reshape(4, 6)

EXAMPLES = [
    Example(Build("ChannelWise"), IMAGES),
    Example(Build("ChannelWise", (2, 3), factor=2, with_bias=False), IMAGES),
    Example(Build("ChannelsThenPoints", 5, (3, 3)), IMAGES),
    Example(Build("ChannelsThenPoints", 5, (1, 2), factor=1), IMAGES),
    Example(Build("OwnConvolution", (3, 3), 5), IMAGES),
    Example(Build("SquareTable"), TOKENS),
    Example(Build("JoinedPair"), (TOKENS, EXTRA)),
    Example(Build("JoinedPair"), (FLAT, FLAT)),
    Example(Build("BinnedPool", 2), IMAGES),
    Example(Build("BinnedPool", (2, 4)), IMAGES),
    Example(Build("PooledTwice"), IMAGES),
    Example(Build("BinsOfField", 2), TOKENS),
    Example(Build("BinsOfField", 4), TOKENS),
    Example(Build("Stage", 3, 0.5), IMAGES),
    Example(Build("StagedPyramid"), IMAGES),
    Example(Build("StagedPyramid", (3, 5, 4), (2, 1, 1)), jnp.tile(WIDE_IMAGES, (1, 2, 2, 1))),
    Example(Build("RunningPosition"), TOKENS),
    Example(Build("RunningPosition", (2, 1)), TOKENS),
    Example(Build("MaybeSingle", 2), TOKENS),
    Example(Build("MaybeSingle", 2), FLAT),
    Example(Build("CheckedRank"), TOKENS, EXTRA),
    Example(Build("SomeRank"), FLAT),
    Example(Build("SomeRank"), TOKENS),
    Example(Build("EqualDtypes", 5), TOKENS),
    Example(Build("FlatRoot"), TOKENS),
    Example(Build("WidthsByLevel"), TOKENS),
    Example(Build("WidthsByLevel", 40, 0.5, 9, 16), TOKENS),
]
