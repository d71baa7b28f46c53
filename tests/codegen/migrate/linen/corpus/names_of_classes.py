"""Names that mean something at the level of a class, or in a module of flax; keywords beside parentheses."""

from collections.abc import Callable

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class RateDefault(nn.Module):
    dropout_rate: float = 0.5
    width: int = 4

    @nn.compact
    def __call__(self, x, rate=dropout_rate):
        return nn.Dense(self.width)(x) * rate


class RateInSignature(nn.Module):
    scale: float
    act: Callable = nn.relu
    table = {"relu": act}

    @nn.compact
    def __call__(self, x, act=act):
        return act(nn.Dense(3)(x)) * self.scale


def lifted(target: nn.transforms.Target) -> nn.transforms.Target:
    return nn.remat(target)


class UsesTarget(nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        return lifted(nn.Dense)(self.width)(x)


class ClassWidth(nn.Module):
    WIDTH = 4
    out: int = 2

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.WIDTH)(x)
        x = nn.Dense(self.WIDTH * 2)(x)
        return nn.Dense(self.out)(x)


class ClassWidthByName(nn.Module):
    WIDTH = 4

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(ClassWidthByName.WIDTH)(x)
        return nn.Dense(2)(x)


# fmt: off
class NotParen(nn.Module):
    flag: bool = False

    @nn.compact
    def __call__(self, x):
        if not(self.flag):
            x = nn.Dense(3)(x)
        return(x)


class NotGlued(nn.Module):
    flag: bool = False
    width: int = 3

    @nn.compact
    def __call__(self, x):
        w = (self.width)if(self.flag)else(5)
        if (not(self.flag)and(self.width))or(x.ndim)in(3, 4):
            x = nn.Dense(w)(x)
        return(x)
# fmt: on


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("RateDefault"), X),
    Example(Build("RateDefault", 0.3), X),
    Example(Build("RateInSignature", 2.0), X),
    Example(Build("UsesTarget"), X),
    Example(Build("ClassWidth"), X),
    Example(Build("ClassWidthByName"), X),
    Example(Build("NotParen"), X),
    Example(Build("NotGlued"), X),
    Example(Build("NotGlued", True), X),
    Example(Build("NotParen", True), X),
]
