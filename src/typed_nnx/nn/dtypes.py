"""The dtype that a layer computes in: the one it was given, or what its arrays promote to."""

from __future__ import annotations

from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import lax

from typed_nnx.errors import LayerArgumentError
from typed_nnx.nn._layers import Arrays, Dtype

T = TypeVar("T", bound=tuple[Any, ...])

# Arrays of one of these dtypes keep it under every setting of jax.
_USUAL = frozenset(map(jnp.dtype, (jnp.float32, jnp.bfloat16, jnp.float16)))


def canonicalize_dtype(*args: Any, dtype: Dtype | None = None, inexact: bool = True) -> Dtype:
    """Return `dtype`, or the dtype that the arrays promote to if it is None.

    Args:
        *args: Arrays or scalars; None among them does not count.
        dtype: The dtype to use.
        inexact: Whether the result must be a float or complex dtype. Integers then promote to
            float32 (float64 with ``jax_enable_x64`` where jax's rules say so).

    Raises:
        LayerArgumentError: `dtype` is neither float nor complex and `inexact` asks for one.
        ValueError: Neither an array nor a dtype is given.
    """
    if dtype is None:
        common = _usual_dtype(args)
        if common is not None:
            return common
        # jax types the result of both as Any.
        found: Dtype = jnp.result_type(*[arg for arg in args if arg is not None])
        if inexact and not jnp.issubdtype(found, jnp.inexact):
            found = jnp.promote_types(jnp.float32, found)
        return found
    if inexact and not jnp.issubdtype(dtype, jnp.inexact):
        raise LayerArgumentError(
            "promote_dtype",
            "dtype",
            str(getattr(dtype, "__name__", dtype)),
            "a float or complex dtype",
            "dtype=jnp.float32, or leave `dtype` out to compute in what the inputs and parameters "
            "promote to",
        )
    return dtype


def promote_dtype(args: Arrays, /, *, dtype: Dtype | None = None, inexact: bool = True) -> Arrays:
    """Return the arrays of `args` in one dtype; None stays None.

    Args:
        args: Arrays or scalars of any shapes.
        dtype: The dtype to use; None means what they promote to.
        inexact: Whether the dtype must be float or complex.

    Raises:
        LayerArgumentError: `dtype` is neither float nor complex and `inexact` asks for one.
    """
    if dtype is None and type(args) is tuple and _usual_dtype(args) is not None:
        return args
    common = canonicalize_dtype(*args, dtype=dtype, inexact=inexact)
    # A tuple of the same length: what `Arrays` says of its elements, None or array, is kept.
    promoted: Any = tuple([None if arg is None else _cast(arg, common) for arg in args])
    result: Arrays = promoted
    return result


def _usual_dtype(args: tuple[Any, ...]) -> jnp.dtype | None:
    """Return the dtype that all arrays have, if it is a usual one; jax need not be asked then."""
    common = None
    for arg in args:
        if arg is None:
            continue
        if not isinstance(arg, jax.Array):
            return None
        if common is None:
            common = arg.dtype
        elif arg.dtype != common:
            return None
    return common if common in _USUAL else None


def _cast(value: object, dtype: Dtype) -> jax.Array:
    if not isinstance(value, jax.Array):
        return jnp.asarray(value, dtype)
    if value.dtype == dtype:
        return value
    # In a trace `jnp.asarray` costs three times as much.
    is_usual = value.dtype in _USUAL and jnp.dtype(dtype) in _USUAL
    return lax.convert_element_type(value, dtype) if is_usual else jnp.asarray(value, dtype)
