"""Encoders made of the layers; their widths follow from those."""

from typing import NamedTuple

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

from .layers import ConvStem, ResidualMLP, SpatialSoftmax
from .layers import ResidualMLP as Trunk


class Encoded(NamedTuple):
    features: jnp.ndarray
    tokens: jnp.ndarray


class StateEncoder(nn.Module):
    width: int

    def setup(self):
        self.trunk = Trunk(self.width, depth=2)
        self.tokens = nn.Dense(3)

    def __call__(self, state) -> Encoded:
        features = self.trunk(state)
        return Encoded(features, self.tokens(features))


class ImageEncoder(nn.Module):
    channels: tuple = (3, 4)
    keypoints: bool = True

    @nn.compact
    def __call__(self, images) -> Encoded:
        maps = ConvStem(self.channels)(images)
        if self.keypoints:
            features = SpatialSoftmax()(maps)
        else:
            features = maps.mean(axis=(1, 2))
        tokens = maps.reshape(maps.shape[0], -1, maps.shape[-1])
        return Encoded(ResidualMLP(5)(features), tokens)


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("StateEncoder", 4), X),
    Example(Build("ImageEncoder"), IMAGES),
    Example(Build("ImageEncoder", (2,), keypoints=False), IMAGES),
]
