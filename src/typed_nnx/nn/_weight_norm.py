"""Layers around a layer, which bring its kernels to a known scale before each call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from typed_nnx._core.fields import data
from typed_nnx._core.filters import Filter, PathContains
from typed_nnx._core.modules import Module
from typed_nnx._core.paths import Path
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.state import to_flat_state
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_types import BatchStat, Param
from typed_nnx._graph.split import state
from typed_nnx.errors import LayerArgumentError
from typed_nnx.nn import initializers
from typed_nnx.nn._layers import (
    Array,
    Axes,
    Dtype,
    Initializer,
    PromoteDtypeFn,
    as_dtype,
    as_tuple,
    axes_without,
    check_rngs,
    described,
    next_key,
    scale_init,
)
from typed_nnx.nn.dtypes import promote_dtype

vector_init: Initializer = initializers.normal()


class SpectralNorm(Module):
    """Divides the kernels of a layer by their largest singular value, and then calls the layer.

    The singular value is estimated by power iteration from a vector that is kept between calls.
    Each call writes the divided kernels into the layer.

    >>> layer = SpectralNorm(Linear(2, 2, rngs=Rngs(0)), n_steps=20, rngs=Rngs(0))
    >>> _ = layer(jnp.ones((1, 2)))
    >>> jnp.linalg.norm(layer.layer_instance.kernel[...], 2).round(3).item()
    1.0

    Args:
        layer_instance: The layer. All its Params with at least two axes count as kernels, as
            matrices of [all axes but the last, last axis].
        n_steps: Number of steps of the power iteration in each call.
        epsilon: Keeps the norms of vectors away from 0.
        dtype: The dtype that kernels are rounded to; None means that they are not.
        param_dtype: The dtype of the vectors and singular values.
        error_on_non_matrix: Whether to refuse kernels with more than two axes.
        update_stats: Whether a call keeps the new vectors. `train` and `eval` set its opposite,
            `use_running_average`.
        rngs: Gives a key of the stream ``params`` for each kernel.

    Raises:
        LayerArgumentError: See `error_on_non_matrix`.

    Source: Miyato et al., "Spectral Normalization for Generative Adversarial Networks", 2018.
    """

    layer_instance: Module
    batch_stats: dict[Path, BatchStat[jax.Array]]

    def __init__(
        self,
        layer_instance: Module,
        *,
        n_steps: int = 1,
        epsilon: float = 1e-12,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        error_on_non_matrix: bool = False,
        update_stats: bool = True,
        rngs: Rngs,
    ) -> None:
        self.layer_instance = layer_instance
        self.n_steps: int = n_steps
        self.epsilon: float = epsilon
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.error_on_non_matrix: bool = error_on_non_matrix
        self.use_running_average: bool = not update_stats
        stats: dict[Path, BatchStat[jax.Array]] = {}
        for path, kernel in _spectral_kernels(self):
            if error_on_non_matrix and kernel.ndim > 2:
                name = type(self).__name__
                raise LayerArgumentError(
                    name,
                    "layer_instance",
                    f"a layer with {described(kernel[...])} at {path}",
                    "kernels with two axes, as error_on_non_matrix=True asks for",
                    f"nnx.{name}(layer, error_on_non_matrix=False, ...)",
                )
            vector = vector_init(next_key(self, rngs), (1, kernel.shape[-1]), param_dtype)
            stats[(*path, "u")] = BatchStat(vector)
            stats[(*path, "sigma")] = BatchStat(jnp.ones((), param_dtype))
        self.batch_stats = data(stats)

    def __call__(self, x: Any, update_stats: bool | None = None) -> Any:
        """Divide the kernels, and return what the layer returns for `x`.

        Args:
            x: What the layer takes.
            update_stats: Overrides what the constructor or `train` and `eval` set.
        """
        update = not self.use_running_average if update_stats is None else update_stats
        for path, kernel in _spectral_kernels(self):
            vector, sigma = (self.batch_stats[(*path, name)] for name in ("u", "sigma"))
            divided, u, value = _divided(self, kernel[...], vector[...])
            if update:
                vector[...] = as_dtype(u, vector.dtype)
                sigma[...] = as_dtype(value, sigma.dtype)
            rounded = divided if self.dtype is None else as_dtype(divided, self.dtype)
            kernel[...] = as_dtype(rounded, kernel.dtype)
        layer: Any = self.layer_instance
        return layer(x)


def unit(x: Array, axes: tuple[int, ...] | None, epsilon: float) -> Array:
    """Return ``x / sqrt(sum(x²) + epsilon)``, where the sum is over `axes`; None means all."""
    return x * lax.rsqrt((x * x).sum(axis=axes, keepdims=True) + epsilon)


def _spectral_kernels(layer: SpectralNorm) -> Iterator[tuple[Path, Param[jax.Array]]]:
    if layer.n_steps > 0:
        for path, param in to_flat_state(state(layer.layer_instance, Param)):
            if param.ndim > 1:
                yield path, param


def _divided(layer: SpectralNorm, kernel: Array, u: Array) -> tuple[Array, Array, Array]:
    """Return the kernel divided, the new vector and the singular value."""
    matrix = kernel.reshape((-1, kernel.shape[-1]))
    v = u
    for _ in range(layer.n_steps):
        v = unit(u @ matrix.T, None, layer.epsilon)
        u = unit(v @ matrix, None, layer.epsilon)
    # The gradient takes the singular vectors as constant.
    u, v = lax.stop_gradient(u), lax.stop_gradient(v)
    sigma = (v @ matrix @ u.T)[0, 0]
    matrix = matrix / jnp.where(sigma != 0, sigma, 1)
    return matrix.reshape(kernel.shape), u, sigma


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
                path: scale_init(
                    _key(self, rngs, number), tuple([kernel.shape[axis] for axis in axes])
                )
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
            value = unit(value, axes_without(axes, value.ndim), self.epsilon)
            if self.scales is not None:
                shape = [size if axis in axes else 1 for axis, size in enumerate(value.shape)]
                value = value * self.scales[path].reshape(shape)
            # Not by `[...]`, which keeps the dtype.
            kernel.set_value(value if self.dtype is None else as_dtype(value, self.dtype))
        layer: Any = self.layer_instance
        return layer(x, *args, **kwargs)


def _key(layer: WeightNorm, rngs: Rngs, number: int) -> Any:
    """Return a key for the initializer, without drawing one: what comes next keeps its keys.

    Most initializers of lengths look at no key, and making one takes time.
    """
    check_rngs(layer, rngs)
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
