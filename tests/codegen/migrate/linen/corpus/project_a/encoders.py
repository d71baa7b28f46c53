"""Encoders made of the layers; their widths follow from those."""

from typing import NamedTuple

import jax.numpy as jnp
from flax import linen as nn

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
