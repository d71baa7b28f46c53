"""Operators with one operand, conversions and iteration of Variables."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any, TypeVar, overload

import jax
import numpy as np
import numpy.typing as npt

from typed_nnx._core.value_holder import ValueHolder

A = TypeVar("A")


class UnaryOperators(ValueHolder[A]):
    """Signs, rounding, conversion to scalars and arrays, length and iteration of the value."""

    __slots__ = ()

    @overload
    def __neg__(self: UnaryOperators[jax.Array]) -> jax.Array: ...
    @overload
    def __neg__(self) -> Any: ...
    def __neg__(self: UnaryOperators[Any]) -> Any:
        return -self.get_value()

    @overload
    def __pos__(self: UnaryOperators[jax.Array]) -> jax.Array: ...
    @overload
    def __pos__(self) -> Any: ...
    def __pos__(self: UnaryOperators[Any]) -> Any:
        return +self.get_value()

    @overload
    def __abs__(self: UnaryOperators[jax.Array]) -> jax.Array: ...
    @overload
    def __abs__(self) -> Any: ...
    def __abs__(self: UnaryOperators[Any]) -> Any:
        return abs(self.get_value())

    @overload
    def __invert__(self: UnaryOperators[jax.Array]) -> jax.Array: ...
    @overload
    def __invert__(self) -> Any: ...
    def __invert__(self: UnaryOperators[Any]) -> Any:
        return ~self.get_value()

    @overload
    def __round__(self: UnaryOperators[jax.Array], ndigits: int = 0, /) -> jax.Array: ...
    @overload
    def __round__(self, ndigits: int = 0, /) -> Any: ...
    def __round__(self: UnaryOperators[Any], ndigits: int = 0, /) -> Any:
        return round(self.get_value(), ndigits)

    def __ceil__(self: UnaryOperators[Any]) -> Any:
        return math.ceil(self.get_value())

    def __floor__(self: UnaryOperators[Any]) -> Any:
        return math.floor(self.get_value())

    def __trunc__(self: UnaryOperators[Any]) -> Any:
        return math.trunc(self.get_value())

    def __int__(self: UnaryOperators[Any]) -> int:
        return int(self.get_value())

    def __float__(self: UnaryOperators[Any]) -> float:
        return float(self.get_value())

    def __complex__(self: UnaryOperators[Any]) -> complex:
        return complex(self.get_value())

    def __index__(self: UnaryOperators[Any]) -> int:
        return operator.index(self.get_value())

    def __bool__(self: UnaryOperators[Any]) -> bool:
        """Say whether the value is non-empty or, for a value without length, true.

        An array of rank one and above answers by its length, as flax's Variable does, so that
        ``if variable:`` does not depend on the elements of a weight.
        """
        value = self.get_value()
        try:
            return len(value) > 0
        except TypeError:
            return bool(value)

    def __len__(self: UnaryOperators[Any]) -> int:
        return len(self.get_value())

    @overload
    def __iter__(self: UnaryOperators[jax.Array]) -> Iterator[jax.Array]: ...
    @overload
    def __iter__(self) -> Iterator[Any]: ...
    def __iter__(self: UnaryOperators[Any]) -> Iterator[Any]:
        return iter(self.get_value())

    def __contains__(self: UnaryOperators[Any], item: object, /) -> bool:
        return item in self.get_value()

    def __jax_array__(self: UnaryOperators[Any]) -> jax.Array:
        """Return the value, so that every ``jax.numpy`` function takes a Variable."""
        value: jax.Array = self.get_value()
        return value

    def __array__(
        self, dtype: npt.DTypeLike | None = None, *, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        """Return the value as a numpy array; ``copy`` is as in ``numpy.array``."""
        return np.array(self.get_value(), dtype=dtype, copy=copy)
