"""Fields that hold classes, partials of them, and functions."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Mlp(nn.Module):
    sizes: Sequence[int]
    activate_final: bool = False

    @nn.compact
    def __call__(self, x):
        for position, size in enumerate(self.sizes):
            x = nn.Dense(size)(x)
            if position + 1 < len(self.sizes) or self.activate_final:
                x = nn.relu(x)
        return x


class Value(nn.Module):
    """The class of the torso is given: its width is what the torso knows."""

    torso_cls: Any

    @nn.compact
    def __call__(self, observations, actions):
        inputs = jnp.concatenate([observations, actions], axis=-1)
        hidden = self.torso_cls()(inputs)
        return jnp.squeeze(nn.Dense(1)(hidden), -1)


def make_value(sizes):
    torso = partial(Mlp, sizes=sizes, activate_final=True)
    return Value(torso_cls=torso)


class ValueUser(nn.Module):
    @nn.compact
    def __call__(self, x, actions):
        return Value(partial(Mlp, (4, 3), activate_final=True))(x, actions)


class Narrow(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Wide(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.tanh(nn.Dense(self.width * 3)(x))


class EitherBlock(nn.Module):
    """One of two classes, which make different widths."""

    block: Any
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = self.block(4)(x)
        return nn.Dense(2)(x)


NarrowNet = partial(EitherBlock, block=Narrow)
WideNet = partial(EitherBlock, block=Wide, depth=1)


class SettingsInPartial(nn.Module):
    """Settings that have other names in NNX, by position too."""

    dense: Callable = partial(nn.Dense, 5, use_bias=False)
    conv: Callable = partial(nn.Conv, kernel_size=(3,), padding="SAME")
    act: Callable = nn.relu

    @nn.compact
    def __call__(self, x):
        x = self.act(self.dense()(x))
        return self.conv(4)(x)


class Given(nn.Module):
    """Only a function of the file says what the field holds."""

    torso_cls: Any
    heads: int = 2

    @nn.compact
    def __call__(self, x):
        hidden = self.torso_cls()(x)
        return nn.Dense(self.heads)(hidden)


def make_given(sizes, wide: bool = False):
    torso = partial(Mlp, sizes=sizes)
    if wide:
        torso = partial(Wide, width=sizes[0])
    cls = partial(Given, torso_cls=torso)
    return cls(heads=3)


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
TORSO = Build("functools.partial", Build.ref("Mlp"), (5, 7), activate_final=True)

EXAMPLES = [
    Example(Build("Mlp", (5, 4)), X),
    Example(Build("Value", TORSO), X, X[:, :2]),
    Example(Build("ValueUser"), X, X[:, :2]),
    Example(Build("NarrowNet"), X),
    Example(Build("WideNet"), X),
    Example(Build("EitherBlock", Build.ref("Wide"), 3), X),
    Example(Build("SettingsInPartial"), SEQ),
    Example(Build("Given", TORSO), X),
    Example(Build("Given", Build("functools.partial", Build.ref("Wide"), 2), heads=3), X),
]
