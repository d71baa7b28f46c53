"""Pooling: each window of the inputs is reduced to its mean, its largest or its smallest element."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import jax.numpy as jnp
import numpy as np
from jax import lax

from typed_nnx.errors import LayerArgumentError, LayerInputError
from typed_nnx.nn._conv import check_name
from typed_nnx.nn._layers import Array, LaxPadding, described


def pool(
    inputs: Array,
    init: complex | Array,
    reduce_fn: Callable[[Array, Array], Array],
    window_shape: Sequence[int],
    strides: Sequence[int] | None,
    padding: LaxPadding,
) -> Array:
    """Reduce each window of the inputs to one element.

    >>> pool(jnp.arange(4.0).reshape(4, 1), 0.0, lax.add, (2,), (2,), "VALID").ravel().tolist()
    [1.0, 5.0]

    Args:
        inputs: Any dtype, [*batch, *spatial, features]; there may be no batch axis.
        init: What `reduce_fn` starts from, and what is padded with.
        reduce_fn: Two elements -> one.
        window_shape: Size of the window along each spatial axis.
        strides: Steps between windows along each spatial axis; None is 1.
        padding: ``SAME``, ``VALID``, or (before, after) for each spatial axis.

    Raises:
        LayerArgumentError: `strides` or `padding` do not fit `window_shape`.
        LayerInputError: `inputs` have too few axes.
    """
    return _pooled("pool", inputs, init, reduce_fn, window_shape, strides, padding)


def avg_pool(
    inputs: Array,
    window_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: LaxPadding = "VALID",
    count_include_pad: bool = True,
) -> Array:
    """Return the mean of each window.

    >>> avg_pool(jnp.arange(4.0).reshape(4, 1), (2,), (2,)).ravel().tolist()
    [0.5, 2.5]

    With `count_include_pad` the padding counts as zeros; without it the mean is over the elements of
    the window that are there. Other arguments and errors are those of `pool`.
    """
    total = _pooled("avg_pool", inputs, 0, lax.add, window_shape, strides, padding)
    if count_include_pad:
        return total / math.prod(window_shape)
    batch = inputs.ndim - len(window_shape) - 1
    there = jnp.ones((*(1,) * batch, *inputs.shape[batch:-1], 1))
    return total / _pooled("avg_pool", there, 0, lax.add, window_shape, strides, padding)


def max_pool(
    inputs: Array,
    window_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: LaxPadding = "VALID",
) -> Array:
    """Return the largest element of each window.

    >>> max_pool(jnp.arange(4.0).reshape(4, 1), (2,), (2,)).ravel().tolist()
    [1.0, 3.0]

    The inputs are real; arguments and errors are those of `pool`.
    """
    lowest = _range_of(inputs)[0]
    return _pooled("max_pool", inputs, lowest, lax.max, window_shape, strides, padding)


def min_pool(
    inputs: Array,
    window_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: LaxPadding = "VALID",
) -> Array:
    """Return the smallest element of each window.

    >>> min_pool(jnp.arange(4.0).reshape(4, 1), (2,), (2,)).ravel().tolist()
    [0.0, 2.0]

    The inputs are real; arguments and errors are those of `pool`.
    """
    highest = _range_of(inputs)[1]
    return _pooled("min_pool", inputs, highest, lax.min, window_shape, strides, padding)


def _range_of(inputs: Array) -> tuple[float, float]:
    dtype = jnp.result_type(inputs)
    if jnp.issubdtype(dtype, jnp.integer):
        limits = np.iinfo(dtype)
        return int(limits.min), int(limits.max)
    return (False, True) if dtype == jnp.bool_ else (-np.inf, np.inf)


def _pooled(
    function: str,
    inputs: Array,
    init: complex | Array,
    reduce_fn: Callable[[Array, Array], Array],
    window_shape: Sequence[int],
    strides: Sequence[int] | None,
    padding: LaxPadding,
) -> Array:
    _check(function, inputs, window_shape, strides, padding)
    rank = len(window_shape)
    batched = jnp.expand_dims(inputs, 0) if inputs.ndim == rank + 1 and rank else inputs
    before = (1,) * (batched.ndim - rank - 1)
    pads: LaxPadding = padding
    if not isinstance(padding, str):
        pads = [*[(0, 0)] * len(before), *[(first, last) for first, last in padding], (0, 0)]
    result: Array = lax.reduce_window(
        batched,
        np.asarray(init, batched.dtype) if isinstance(init, bool | int | float) else init,
        reduce_fn,
        (*before, *window_shape, 1),
        (*before, *(strides or (1,) * rank), 1),
        pads,
    )
    return jnp.squeeze(result, 0) if batched is not inputs else result


def _check(
    function: str, inputs: Array, window_shape: object, strides: object, padding: object
) -> None:
    if not isinstance(window_shape, Sequence):
        raise LayerArgumentError(
            function,
            "window_shape",
            repr(window_shape),
            "a size for each spatial axis",
            f"window_shape=({window_shape},) for one spatial axis",
        )
    rank = len(window_shape)
    if jnp.ndim(inputs) < rank + 1:
        raise LayerInputError(
            function,
            "inputs",
            described(inputs),
            f"{rank} spatial axes, as window_shape={tuple(window_shape)} has, and features last",
            "inputs[..., None], if the feature axis is missing",
        )
    if strides is not None and (not isinstance(strides, Sequence) or len(strides) != rank):
        raise LayerArgumentError(
            function,
            "strides",
            repr(strides),
            f"a step for each of the {rank} axes of window_shape={tuple(window_shape)}",
            f"strides={(2,) * rank}",
        )
    if isinstance(padding, str):
        check_name(function, padding, ())
    elif (
        not isinstance(padding, Sequence)
        or len(padding) != rank
        or any(not isinstance(pair, Sequence) or len(pair) != 2 for pair in padding)
    ):
        raise LayerArgumentError(
            function,
            "padding",
            repr(padding),
            f"a name, or (before, after) for each of the {rank} axes of window_shape="
            f"{tuple(window_shape)}",
            f"padding={((1, 1),) * rank}",
        )
