"""The two contracts behind the samplers: where keys come from, and initializers that need none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import jax
from jax.sharding import NamedSharding, PartitionSpec
from jax.typing import DTypeLike


class KeySource:
    """Something that gives a fresh key on every call; the base of the generated samplers."""

    __slots__ = ()

    def __call__(self) -> jax.Array:
        """Return the next key: a typed PRNG key of shape ``()``."""
        raise NotImplementedError


class KeylessInitializer(Protocol):
    """An initializer that takes its key from a stream: call it with a shape and a dtype."""

    def __call__(
        self,
        shape: Sequence[int],
        dtype: DTypeLike | None = None,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        """Return an array of `shape`, drawn with the next key of the stream."""
        ...


def keyless(source: KeySource, initializer: jax.nn.initializers.Initializer) -> KeylessInitializer:
    """Bind `initializer` to `source`: each call of the result takes one key from it."""

    def initialize(
        shape: Sequence[int],
        dtype: DTypeLike | None = None,
        out_sharding: NamedSharding | PartitionSpec | None = None,
    ) -> jax.Array:
        key = source()
        if dtype is None:
            # An explicit None would hide the dtype that the initializer was made with.
            return initializer(key, shape, out_sharding=out_sharding)
        return initializer(key, shape, dtype, out_sharding)

    return initialize


def layout(out_sharding: NamedSharding | PartitionSpec | None) -> dict[str, Any]:
    """Return the keyword argument for a sampler of jax; none where no layout is asked for.

    Each release of jax before 0.10.2 has samplers that do not take it.
    """
    return {} if out_sharding is None else {"out_sharding": out_sharding}
