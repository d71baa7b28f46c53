"""How the image classifiers are built and called."""

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)
CONV = Build("functools.partial", Build.ref("flax.linen.Conv"), use_bias=False)
NORM = Build("functools.partial", Build.ref("flax.linen.BatchNorm"), use_running_average=False)
BN = ("batch_stats",)

EXAMPLES = [
    Example(
        Build("ResNet", [1, 2], Build.ref("ResidualBlock"), 5),
        IMAGES,
        train=True,
        mutable=BN,
    ),
    Example(Build("ResNet", [1, 1], Build.ref("Bottleneck"), num_classes=5), IMAGES, train=False),
    Example(Build("SmallResNet", num_classes=3, num_filters=2), IMAGES, mutable=BN),
    Example(Build("ResidualBlock", 3, CONV, NORM, nn.relu), IMAGES, mutable=BN),
    Example(Build("ResidualBlock", 4, CONV, NORM, nn.relu, (2, 2)), IMAGES, mutable=BN),
    Example(Build("Bottleneck", 2, CONV, NORM, act=nn.silu), IMAGES, mutable=BN),
    *(
        Example(Build("OptionalStrides", down, pool), jnp.ones((2, 7, 7, 3)).at[0, 2].set(-1.0))
        for down in (False, True)
        for pool in (False, True)
    ),
    Example(Build("ListsForTuples", [4, 5]), IMAGES),
    Example(Build("ListsForTuples", (4, 5), [2]), IMAGES),
]
