"""Fields whose types say the class that they hold."""

from typing import Optional, Type

import flax.linen as nn


class Features(nn.Module):
    width: int = 5

    @nn.compact
    def __call__(self, x):
        return nn.tanh(nn.Dense(self.width)(x.reshape((x.shape[0], -1))))


class WideFeatures(Features):
    width: int = 9


class ValueOf(nn.Module):
    extractor: type[Features] | None = None
    width: int = 6

    @nn.compact
    def __call__(self, x):
        if self.extractor is not None:
            x = self.extractor(self.width)(x)
        else:
            x = x.reshape((x.shape[0], -1))
        return nn.Dense(1)(nn.relu(nn.Dense(4)(x)))


class OldTypes(nn.Module):
    extractor: Optional[Type[Features]] = None

    @nn.compact
    def __call__(self, x):
        if self.extractor is not None:
            x = self.extractor()(x)
        return nn.Dense(1)(x)
