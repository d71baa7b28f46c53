"""Fields that are given by name only."""

import dataclasses
from dataclasses import KW_ONLY

import flax.linen as nn


class KeywordFields(nn.Module):
    width: int = 3
    _: dataclasses.KW_ONLY
    # A comment.
    bias: bool
    scale: float = 2.0

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width, use_bias=self.bias)(x) * self.scale


class MoreKeywords(KeywordFields):
    _: KW_ONLY
    more: int = 1

    @nn.compact
    def __call__(self, x):
        return KeywordFields(self.more, bias=self.bias)(super().__call__(x))


class PositionalBehind(KeywordFields):
    last: int = 5

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.last)(super().__call__(x))


class KeywordUser(nn.Module):
    @nn.compact
    def __call__(self, x):
        return PositionalBehind(4, 6, bias=False)(x)
