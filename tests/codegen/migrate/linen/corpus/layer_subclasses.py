"""Classes that derive from layers of the library."""

from typing import Any, Callable

import flax.linen as nn
from flax.linen.initializers import variance_scaling

SCALE = 1 / 3


class PlainDense(nn.Dense):
    """A product without a bias."""

    use_bias: bool = False
    kernel_init: Callable = nn.initializers.normal(0.1)


class Dense(nn.Dense):
    """A product that begins as another library has it."""

    def __init__(self, *args, **kwargs):
        kwargs.update({"kernel_init": variance_scaling(SCALE, "fan_in", "uniform")})
        super().__init__(*args, **kwargs)


class General(nn.DenseGeneral):
    def __init__(self, *args, **kwargs):
        from flax.linen.initializers import lecun_normal

        given = {"kernel_init": lecun_normal()}
        given.update(kwargs)
        super().__init__(*args, **given)


class Gentle(Dense):
    pass


class FineNorm(nn.LayerNorm):
    epsilon: float = 1e-3


class SmallConv(nn.Conv):
    use_bias: bool = False
    padding: Any = "VALID"


class NoBiasSmallConv(SmallConv):
    kernel_init: Callable = nn.initializers.normal(0.2)


class Slow(nn.BatchNorm):
    momentum: float = 0.5
    use_running_average: bool = False


class Block(nn.Module):
    features: int
    dense: Any = PlainDense
    norm: Any = FineNorm

    @nn.compact
    def __call__(self, x):
        h = self.dense(self.features)(x)
        h = self.norm()(h)
        return nn.relu(Gentle(self.features)(h)) + x[..., :1]


class DerivedLayers(nn.Module):
    features: int = 4

    def setup(self):
        self.first = Dense(self.features)
        self.second = General((2, 3), axis=-1)
        self.block = Block(5)
        self.other = Block(5, dense=nn.Dense, norm=nn.LayerNorm)

    def __call__(self, x):
        y = self.second(self.first(x))
        y = y.reshape(*y.shape[:-2], 6)
        return self.other(self.block(y))


class DerivedConvolutions(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = SmallConv(4, (3, 3))(x)
        x = Slow()(x)
        x = NoBiasSmallConv(4, (2, 2), use_bias=True)(x)
        x = x.reshape(x.shape[0], -1)
        x = Dense(6)(x)
        x = nn.Dense(6)(x)
        return Dense(3)(x)
