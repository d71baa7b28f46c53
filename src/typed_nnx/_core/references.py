"""Array references: jax's mutable arrays as raw values."""

from __future__ import annotations

from typing import Any, TypeGuard

import jax

#: The type of a mutable array reference of jax.
ArrayRef = jax.Ref


def is_array_ref(x: Any) -> TypeGuard[jax.Ref]:
    """Whether `x` is a mutable array reference."""
    return isinstance(x, jax.Ref)


def array_ref(value: Any, /) -> Any:
    """Return a new array reference that holds `value` (any array)."""
    return jax.new_ref(value)


new_array_ref = array_ref
