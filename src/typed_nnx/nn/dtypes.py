"""The dtype that a layer computes in: the one it was given, or what its arrays promote to."""

from __future__ import annotations

from typing import Any, TypeVar

import jax
import jax.numpy as jnp

from typed_nnx.errors import InexactDtypeError
from typed_nnx.nn._typing import Arrays, Dtype

T = TypeVar("T", bound=tuple[Any, ...])


def canonicalize_dtype(*args: Any, dtype: Dtype | None = None, inexact: bool = True) -> Dtype:
    """Return `dtype`, or the dtype that the arrays promote to if it is None.

    Args:
        *args: Arrays or scalars; None among them does not count.
        dtype: The dtype to use.
        inexact: Whether the result must be a float or complex dtype. Integers then promote to
            float32 (float64 with ``jax_enable_x64`` where jax's rules say so).

    Raises:
        InexactDtypeError: `dtype` is neither float nor complex and `inexact` asks for one.
        ValueError: Neither an array nor a dtype is given.
    """
    if dtype is None:
        # jax types the result of both as Any.
        found: Dtype = jnp.result_type(*[arg for arg in args if arg is not None])
        if inexact and not jnp.issubdtype(found, jnp.inexact):
            found = jnp.promote_types(jnp.float32, found)
        return found
    if inexact and not jnp.issubdtype(dtype, jnp.inexact):
        raise InexactDtypeError(dtype)
    return dtype


def promote_dtype(args: Arrays, /, *, dtype: Dtype | None = None, inexact: bool = True) -> Arrays:
    """Return the arrays of `args` in one dtype; None stays None.

    Args:
        args: Arrays or scalars of any shapes.
        dtype: The dtype to use; None means what they promote to.
        inexact: Whether the dtype must be float or complex.

    Raises:
        InexactDtypeError: `dtype` is neither float nor complex and `inexact` asks for one.
    """
    common = canonicalize_dtype(*args, dtype=dtype, inexact=inexact)
    # A tuple of the same length: what `Arrays` says of its elements, None or array, is kept.
    promoted: Any = tuple([None if arg is None else _cast(arg, common) for arg in args])
    result: Arrays = promoted
    return result


def _cast(value: Any, dtype: Dtype) -> jax.Array:
    if isinstance(value, jax.Array) and value.dtype == dtype:
        return value
    return jnp.asarray(value, dtype)
