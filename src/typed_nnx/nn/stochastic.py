"""Layers that are random while a model trains."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax, random

from typed_nnx._core.fields import data
from typed_nnx._core.modules import Module
from typed_nnx._core.rngs import Rngs, RngStream
from typed_nnx.errors import LayerArgumentError, LayerInputError, RngsTypeError, UnsetModeError
from typed_nnx.nn._layers import Array, described, first_set


class Dropout(Module):
    """Zeroes a share `rate` of the elements and scales the others up, while the model trains.

    >>> layer = Dropout(0.5, rngs=Rngs(dropout=0))
    >>> layer.eval()
    >>> layer(jnp.ones((2,))).tolist()
    [1.0, 1.0]

    Args:
        rate: The share that becomes zero, between 0 and 1.
        broadcast_dims: Axes along which all elements are dropped or kept together.
        deterministic: Whether to return the inputs as they are. `train` and `eval` set it; None
            means that each call says it.
        rng_collection: The name of the stream that the keys come from.
        rngs: Streams of which `rng_collection` is forked, or the stream to fork. None means that
            each call gives its own.

    Raises:
        LayerArgumentError: `rate` is not between 0 and 1.
        RngsTypeError: `rngs` is none of these.

    Source: Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from
    Overfitting", 2014.
    """

    rngs: RngStream | None

    def __init__(
        self,
        rate: float,
        *,
        broadcast_dims: Sequence[int] = (),
        deterministic: bool | None = False,
        rng_collection: str = "dropout",
        rngs: Rngs | RngStream | None = None,
    ) -> None:
        if not 0 <= rate <= 1:
            raise LayerArgumentError(
                type(self).__name__,
                "rate",
                repr(rate),
                "the share of elements to zero, between 0 and 1",
                f"nnx.{type(self).__name__}(0.1, ...)",
            )
        self.rate: float = rate
        self.broadcast_dims: Sequence[int] = broadcast_dims
        self.deterministic: bool | None = deterministic
        self.rng_collection: str = rng_collection
        if rngs is None:
            self.rngs = data(None)
        elif isinstance(rngs, RngStream):
            self.rngs = rngs.fork()
        elif isinstance(rngs, Rngs):
            self.rngs = rngs[rng_collection].fork()
        else:
            raise RngsTypeError(type(self).__name__, "rngs", rngs, "Rngs, an RngStream or None")

    def __call__(
        self,
        inputs: Array,
        *,
        deterministic: bool | None = None,
        rngs: Rngs | RngStream | jax.Array | None = None,
    ) -> Array:
        """Return the inputs with elements dropped: floats [...] -> [...].

        Args:
            inputs: The elements.
            deterministic: Overrides what the constructor or `train` and `eval` set.
            rngs: Streams, a stream or a key in place of the layer's own.

        Raises:
            UnsetModeError: It is not known whether to drop, or no random stream is there.
            RngsTypeError: `rngs` is none of these.
            LayerInputError: `inputs` are not floats.
        """
        name = type(self).__name__
        if first_set(
            deterministic,
            self.deterministic,
            layer=self,
            argument="deterministic",
            why="whether to drop elements is not known",
            fixes=(
                "model.train() or model.eval()",
                f"nnx.{name}(..., deterministic=False)",
                "dropout(x, deterministic=True)",
            ),
        ):
            return inputs
        if self.rate == 0.0:
            return inputs
        if self.rate == 1.0:
            return jnp.zeros_like(inputs)
        if not jnp.issubdtype(jnp.result_type(inputs), jnp.inexact):
            raise LayerInputError(
                name, "inputs", described(inputs), "floats", "inputs.astype(jnp.float32)"
            )
        key, keep = _key(self, self.rngs if rngs is None else rngs), 1.0 - self.rate
        shape = list(jnp.shape(inputs))
        for axis in self.broadcast_dims:
            shape[axis] = 1
        sharding = jax.typeof(inputs).sharding
        mask = random.bernoulli(key, p=keep, shape=shape, out_sharding=sharding)
        mask = jnp.broadcast_to(mask, jnp.shape(inputs))
        return lax.select(mask, inputs / keep, jnp.zeros_like(inputs))

    def set_view(self, deterministic: bool | None = None) -> None:
        """Take what `nnx.view` sets.

        Args:
            deterministic: if True, disables dropout masking.
        """
        if deterministic is not None:
            self.deterministic = deterministic


def _key(layer: Dropout, rngs: Rngs | RngStream | jax.Array | None) -> jax.Array:
    if isinstance(rngs, Rngs):
        return rngs[layer.rng_collection]()
    if isinstance(rngs, RngStream):
        return rngs()
    if isinstance(rngs, jax.Array):
        return rngs
    name = type(layer).__name__
    if rngs is None:
        raise UnsetModeError(
            name,
            "rngs",
            "`deterministic` is False, but no `rngs` argument was provided to Dropout",
            (f"nnx.{name}(..., rngs=nnx.Rngs(dropout=0))", "dropout(x, rngs=rngs)", "model.eval()"),
        )
    raise RngsTypeError(name, "rngs", rngs, "Rngs, an RngStream or a PRNG key")
