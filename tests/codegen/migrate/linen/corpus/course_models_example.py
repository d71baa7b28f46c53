"""Example calls for the models of courses."""

import flax.linen as nn
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    return jnp.sin(jnp.arange(np.prod(shape), dtype=jnp.float32) + 1.0).reshape(shape)


IMAGES = wave(2, 8, 8, 3)
STATISTICS = ("batch_stats",)
EVEN = (np.indices((4, 4)).sum(axis=0) % 2).astype(np.float32)[None, :, :, None]


def shift(chosen):
    return Build("Shift", network=Build("ShiftNet", 4, 6), chosen=chosen, channels=3)


EXAMPLES = [
    Example(Build("TableOfWaves", 6), wave(2, 5, 6)),
    Example(Build("ShiftNet", 4, 6), wave(2, 4, 4, 3)),
    Example(
        Build("Mixture", {"wide": 3}, {"narrow": 2, "wide": 4, "pooled": 1}, nn.relu),
        IMAGES,
        train=True,
        mutable=STATISTICS,
    ),
    Example(Build("PlainUnit", nn.relu, 4, halves=True), IMAGES, train=True, mutable=STATISTICS),
    Example(Build("EarlyUnit", nn.relu, 3), IMAGES, train=True, mutable=STATISTICS),
    Example(Build("JointProjection", 6, 2), wave(2, 5, 6)),
    Example(Build("ListedBlock", 6, 2), wave(2, 5, 6), train=False),
    Example(Build("ListedTransformer", 8, 2, 2, 3), wave(2, 5, 6), train=False),
    Example(
        Build("ListedTransformer", 8, 2, 2, 3),
        wave(2, 5, 6),
        train=False,
        method="weights_of_blocks",
        name="weights",
    ),
    Example(Build("Mixtures", nn.tanh), IMAGES, train=True, mutable=STATISTICS),
    Example(Build("UnitNet", Build.ref("PlainUnit")), IMAGES, train=True, mutable=STATISTICS),
    Example(Build("UnitNet", Build.ref("EarlyUnit")), IMAGES, train=True, mutable=STATISTICS),
    Example(shift(EVEN), wave(2, 4, 4, 3), jnp.zeros(2)),
    Example(Build("Shifts", flows=[shift(EVEN), shift(1 - EVEN)]), wave(2, 4, 4, 3)),
]
