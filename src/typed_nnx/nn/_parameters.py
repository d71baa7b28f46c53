"""How a layer makes its parameters: one key of the stream ``params`` each, in the order it lists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import jax

from typed_nnx._core.fields import data
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable_types import Param
from typed_nnx.errors import RngsTypeError
from typed_nnx.nn import initializers
from typed_nnx.nn._typing import Dtype, Initializer

Metadata: TypeAlias = Mapping[str, Any]

NO_METADATA: Metadata = MappingProxyType({})

kernel_init: Initializer = initializers.lecun_normal()
bias_init: Initializer = initializers.zeros
scale_init: Initializer = initializers.ones


def next_key(layer: object, rngs: Rngs) -> jax.Array:
    """Return the next key of the stream ``params``.

    Raises:
        RngsTypeError: `rngs` is not an `Rngs`.
    """
    if isinstance(rngs, Rngs):
        return rngs.params()
    raise RngsTypeError(type(layer).__name__, "rngs", rngs, "an nnx.Rngs")


def new_param(
    layer: object,
    rngs: Rngs,
    initializer: Initializer,
    shape: Sequence[int],
    dtype: Dtype,
    metadata: Metadata,
) -> Param[jax.Array]:
    """Return a Param of `shape` that `initializer` fills from the next key of ``params``.

    The key is drawn even where the initializer does not look at it: what the next parameter gets
    must not depend on it.
    """
    return Param(initializer(next_key(layer, rngs), tuple(shape), dtype), **metadata)


def optional_param(
    is_wanted: bool,
    layer: object,
    rngs: Rngs,
    initializer: Initializer,
    shape: Sequence[int],
    dtype: Dtype,
    metadata: Metadata,
) -> Param[jax.Array] | None:
    """Return what `new_param` does, or a None that a Param may take the place of; it draws no key."""
    return new_param(layer, rngs, initializer, shape, dtype, metadata) if is_wanted else data(None)
