"""`WeightNorm`: a layer whose kernels are the product of a direction and a length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp

from typed_nnx._core.fields import data
from typed_nnx._core.filters import Filter, PathContains
from typed_nnx._core.module import Module
from typed_nnx._core.paths import Path
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable import Variable
from typed_nnx._graph.split_merge import state
from typed_nnx._graph.state_functions import to_flat_state
from typed_nnx.errors import LayerArgumentError, RngsTypeError
from typed_nnx.nn import initializers
from typed_nnx.nn._parameters import scale_init
from typed_nnx.nn._shapes import as_tuple, described
from typed_nnx.nn._spectral_norm import unit
from typed_nnx.nn._statistics import as_dtype, without
from typed_nnx.nn._typing import Array, Axes, Dtype, Initializer, PromoteDtypeFn
from typed_nnx.nn.dtypes import promote_dtype

# A number that no count of a stream reaches.
_BEYOND_COUNTS = 2**32 - 1


class WeightNorm(Module):
    """Brings the kernels of a layer to unit length, scales them, and then calls the layer.

    Each call writes the scaled kernels into the layer.

    >>> layer = WeightNorm(Linear(2, 3, rngs=Rngs(0)), rngs=Rngs(0))
    >>> _ = layer(jnp.ones((1, 2)))
    >>> jnp.linalg.norm(layer.layer_instance.kernel[...], axis=0).round(3).tolist()
    [1.0, 1.0, 1.0]

    Args:
        layer_instance: The layer.
        feature_axes: The axes of a kernel along which each slice has a length of its own; None
            means that the whole kernel has one.
        use_scale: Whether to scale; without it `scales` is None.
        scale_init: Initializer of the lengths, of the shape of `feature_axes`. It is asked for no
            dtype.
        epsilon: Keeps the lengths away from 0.
        dtype: The dtype of the scaled kernels; None means what kernels and lengths promote to.
        param_dtype: Is kept as an attribute only: the lengths have the dtype that `scale_init`
            gives by itself.
        variable_filter: Which Variables of the layer are its kernels.
        promote_dtype: Is kept as an attribute only.
        rngs: Where `scale_init` gets its keys from; the streams do not move on.

    Raises:
        LayerArgumentError: A kernel lacks one of `feature_axes`.
        RngsTypeError: `rngs` is not an `Rngs`.

    Source: Salimans and Kingma, "Weight Normalization: A Simple Reparameterization to Accelerate
    Training of Deep Neural Networks", 2016.
    """

    layer_instance: Module
    scales: dict[Path, jax.Array] | None

    def __init__(
        self,
        layer_instance: Module,
        *,
        feature_axes: Axes | None = -1,
        use_scale: bool = True,
        scale_init: Initializer = scale_init,
        epsilon: float = 1e-12,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        variable_filter: Filter = PathContains("kernel", exact=True),  # noqa: B008  # frozen
        promote_dtype: PromoteDtypeFn = promote_dtype,
        rngs: Rngs,
    ) -> None:
        self.layer_instance = layer_instance
        self.feature_axes: Axes | None = feature_axes
        self.use_scale: bool = use_scale
        self.scale_init: Initializer = scale_init
        self.epsilon: float = epsilon
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.variable_filter: Filter = variable_filter
        self.promote_dtype: PromoteDtypeFn = promote_dtype
        self.scales = data(
            {
                path: scale_init(_key(self, rngs, number), _shape(kernel[...], axes))
                for number, (path, kernel, axes) in enumerate(_kernels(self))
            }
            if use_scale
            else None
        )

    def __call__(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Scale the kernels, and return what the layer returns.

        Args:
            x: What the layer takes.
            *args: More of it.
            **kwargs: More of it.
        """
        for path, kernel, axes in _kernels(self):
            value = kernel[...]
            value = unit(value, without(axes, value.ndim), self.epsilon)
            if self.scales is not None:
                shape = [size if axis in axes else 1 for axis, size in enumerate(value.shape)]
                value = value * self.scales[path].reshape(shape)
            # Not by `[...]`, which keeps the dtype.
            kernel.set_value(value if self.dtype is None else as_dtype(value, self.dtype))
        layer: Any = self.layer_instance
        return layer(x, *args, **kwargs)


def _shape(kernel: Array, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([kernel.shape[axis] for axis in axes])


def _key(layer: WeightNorm, rngs: Rngs, number: int) -> Any:
    """Return a key for the initializer, without drawing one: what comes next keeps its keys.

    Most initializers of lengths look at no key, and making one takes time.
    """
    if not isinstance(rngs, Rngs):
        raise RngsTypeError(type(layer).__name__, "rngs", rngs, "an nnx.Rngs")
    if layer.scale_init in (initializers.ones, initializers.zeros):
        return None
    stream = rngs.params
    now = jax.random.fold_in(stream.key[...], stream.count[...])
    return jax.random.fold_in(now, _BEYOND_COUNTS - number)


def _kernels(layer: WeightNorm) -> Iterator[tuple[Path, Variable[jax.Array], tuple[int, ...]]]:
    """Yield path, kernel, and which of its axes have lengths."""
    for path, kernel in to_flat_state(state(layer.layer_instance, layer.variable_filter)):
        ndim = kernel.ndim
        axes = () if layer.feature_axes is None else as_tuple(layer.feature_axes)
        if any(not -ndim <= axis < ndim for axis in axes):
            raise LayerArgumentError(
                type(layer).__name__,
                "feature_axes",
                repr(layer.feature_axes),
                f"axes that {described(kernel[...])} at {path} of the layer has",
                f"feature_axes=-1, or a variable_filter that leaves {path} out",
            )
        yield path, kernel, tuple(sorted({axis % ndim for axis in axes}))
