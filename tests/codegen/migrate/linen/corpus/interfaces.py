"""Modules that implement protocols: NNX modules cannot inherit from them."""

from typing import Generic, Protocol, TypeVar

import flax.linen as nn

T = TypeVar("T")


class Encoder(Protocol):
    """What turns tokens into features."""

    width: int

    def __call__(self, x, mask=None): ...

    def describe(self) -> str:
        """Say what it is."""
        raise NotImplementedError


class MeanEncoder(nn.Module, Encoder):
    width: int = 4

    @nn.compact
    def __call__(self, x, mask=None):
        x = nn.Dense(self.width)(x)
        return x if mask is None else x * mask

    def describe(self) -> str:
        return f"mean of {self.width}"


class TypedEncoder(nn.Module, Encoder, Generic[T]):
    width: int = 3

    @nn.compact
    def __call__(self, x, mask=None):
        return nn.Dense(self.width)(x)


class Towers(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        one = MeanEncoder(self.width)(x)
        other = TypedEncoder(self.width)(x)
        return nn.Dense(2)(one + other)


def construct(kind: type[nn.Module]) -> nn.Module:
    """Names of classes in parameters stay."""
    return kind()
