"""Modules in the style of Linen, of either library."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

NORMAL = nn.initializers.normal()


@functools.cache
def kit(side: Any) -> Any:
    """Return all Modules of a library, as attributes."""
    Dense = dense_of(side)
    Compact = compact_of(side, Dense)
    return SimpleNamespace(Dense=Dense, WithCompact=Compact, **others_of(side, Dense))


def dense_of(side: Any) -> Any:
    class Dense(side.bridge.Module):
        features: int

        @side.bridge.compact
        def __call__(self, x: jax.Array) -> Any:
            w = self.param("w", NORMAL, (x.shape[-1], self.features))
            b = self.param("b", nn.initializers.zeros, (1, self.features))
            return x @ w[...] + b[...]

    return Dense


def compact_of(side: Any, Dense: Any) -> Any:
    class WithCompact(side.bridge.Module):
        rate: float = 0.5

        @side.bridge.compact
        def __call__(self, x: jax.Array) -> Any:
            x = Dense(3)(x)
            x = Dense(3, name="named")(x)
            self.kept = Dense(3)
            count = self.variable("counts", "n", lambda: jnp.zeros((), jnp.int32))
            if not self.is_initializing():
                count[...] = count[...] + 1
            return self.kept(x) + jax.random.uniform(self.make_rng("noise"))

    return WithCompact


def others_of(side: Any, Dense: Any) -> dict[str, Any]:
    compact = side.bridge.compact

    class WithSetup(side.bridge.Module):
        def setup(self) -> None:
            self.first = Dense(5)
            self.last = Dense(4)
            self.many = [Dense(2), Dense(3)]
            self.named = {"a": Dense(3)}

        def __call__(self, x: jax.Array) -> Any:
            return self.last(self.first(x))

        def others(self, x: jax.Array) -> Any:
            return self.named["a"](self.many[1](self.many[0](x)))

    class WithFields(side.bridge.Module):
        inner: Any

        @compact
        def __call__(self, x: jax.Array) -> Any:
            return self.inner(x) + Dense(3)(x)

    class WithLayers(side.bridge.Module):
        def __init__(self, *, rngs: Any) -> None:
            self.layer = side.Linear(3, 2, rngs=rngs)

        def __call__(self, x: jax.Array) -> Any:
            return self.layer(x)

    class WithPriority(side.bridge.Module):
        def setup(self) -> None:
            self.z = Dense(3)
            self.a = self.z
            self.set_attr_priority("z", side.bridge.AttrPriority.HIGH)

        def __call__(self, x: jax.Array) -> Any:
            return self.a(x)

    class WithTwoNames(side.bridge.Module):
        @compact
        def __call__(self, x: jax.Array) -> Any:
            self.a = Dense(3, name="z")
            return self.a(x)

    class TwoCompact(side.bridge.Module):
        @compact
        def __call__(self, x: jax.Array) -> Any:
            return self.second(Dense(3)(x))

        @compact
        def second(self, x: jax.Array) -> Any:
            return x + self.param("p", nn.initializers.ones, (1, 3))[...]

    made = (WithSetup, WithFields, WithLayers, WithPriority, WithTwoNames, TwoCompact)
    return {cls.__name__: cls for cls in made}
