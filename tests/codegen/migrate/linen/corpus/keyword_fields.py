"""Fields that are given by name only, and fields whose defaults follow others."""

import dataclasses
import functools

import flax
import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class KeywordFields(nn.Module):
    width: int = 3
    _: dataclasses.KW_ONLY
    # A comment.
    bias: bool
    scale: float = 2.0

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width, use_bias=self.bias)(x) * self.scale


class PositionalBehind(KeywordFields):
    last: int = 5

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.last)(super().__call__(x))


class FollowsFields(nn.Module):
    """The defaults of some fields are computed of those before them."""

    width: int = 4
    groups: int = 2
    parts: int = groups
    twice: int = 2 * width

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width * self.parts)(x)
        x = x.reshape((x.shape[0], self.parts, -1))
        return x.repeat(2, axis=-1) if self.twice > 8 else x


class HoldsFollowing(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = FollowsFields(width=6)(x)
        z = FollowsFields(groups=3)(x)
        return nn.Dense(2)(y) + nn.Dense(2)(z)


frozen_later = functools.partial(flax.struct.dataclass, frozen=False, kw_only=True)


# It is one without this, too.
@dataclasses.dataclass
class Decorated(nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


@frozen_later
class DecoratedByName(nn.Module):
    """All of its fields are given by name."""

    width: int
    bias: bool = True

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width, use_bias=self.bias)(Decorated(width=self.width)(x))


X = jnp.arange(10.0).reshape(2, 5)
EXAMPLES = [
    Example(Build("KeywordFields", bias=True), X),
    Example(Build("KeywordFields", 4, bias=False), X),
    Example(Build("PositionalBehind", 4, 7, bias=True), X),
    Example(Build("FollowsFields"), X),
    Example(Build("FollowsFields", 6, 3), X),
    Example(Build("HoldsFollowing"), X),
    Example(Build("Decorated", 4), X),
    Example(Build("DecoratedByName", width=4, bias=False), X),
]
