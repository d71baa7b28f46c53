"""Operators with a Variable on the right: ``1.0 - variable``, ``array @ variable``.

Python asks the right operand only after the left one gave up, and a Variable on the left computes
on its value and never gives up; so the other operand here is never a Variable.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar, overload

import jax

from typed_nnx._core.value_holder import ValueHolder

A = TypeVar("A")


class ReflectedOperators(ValueHolder[A]):
    """The reflected half of the arithmetic protocol, computed on the value."""

    __slots__ = ()

    # numpy leaves an operation to a right operand of higher priority; without it numpy would
    # convert the Variable itself, and a traced value cannot become a numpy array.
    __array_priority__: ClassVar[int] = 100

    @overload
    def __radd__(self: ReflectedOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __radd__(self, other: Any, /) -> Any: ...
    def __radd__(self: ReflectedOperators[Any], other: Any, /) -> Any:
        return other + self.get_value()

    @overload
    def __rsub__(self: ReflectedOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __rsub__(self, other: Any, /) -> Any: ...
    def __rsub__(self: ReflectedOperators[Any], other: Any, /) -> Any:
        return other - self.get_value()

    @overload
    def __rmul__(self: ReflectedOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __rmul__(self, other: Any, /) -> Any: ...
    def __rmul__(self: ReflectedOperators[Any], other: Any, /) -> Any:
        return other * self.get_value()

    @overload
    def __rtruediv__(self: ReflectedOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __rtruediv__(self, other: Any, /) -> Any: ...
    def __rtruediv__(self: ReflectedOperators[Any], other: Any, /) -> Any:
        return other / self.get_value()

    @overload
    def __rfloordiv__(self: ReflectedOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __rfloordiv__(self, other: Any, /) -> Any: ...
    def __rfloordiv__(self: ReflectedOperators[Any], other: Any, /) -> Any:
        return other // self.get_value()

    @overload
    def __rmod__(self: ReflectedOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __rmod__(self, other: Any, /) -> Any: ...
    def __rmod__(self: ReflectedOperators[Any], other: Any, /) -> Any:
        return other % self.get_value()

    @overload
    def __rmatmul__(self: ReflectedOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __rmatmul__(self, other: Any, /) -> Any: ...
    def __rmatmul__(self: ReflectedOperators[Any], other: Any, /) -> Any:
        return other @ self.get_value()

    @overload
    def __rlshift__(self: ReflectedOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __rlshift__(self, other: Any, /) -> Any: ...
    def __rlshift__(self: ReflectedOperators[Any], other: Any, /) -> Any:
        return other << self.get_value()

    @overload
    def __rrshift__(self: ReflectedOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __rrshift__(self, other: Any, /) -> Any: ...
    def __rrshift__(self: ReflectedOperators[Any], other: Any, /) -> Any:
        return other >> self.get_value()

    @overload
    def __rand__(self: ReflectedOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __rand__(self, other: Any, /) -> Any: ...
    def __rand__(self: ReflectedOperators[Any], other: Any, /) -> Any:
        return other & self.get_value()

    @overload
    def __ror__(self: ReflectedOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __ror__(self, other: Any, /) -> Any: ...
    def __ror__(self: ReflectedOperators[Any], other: Any, /) -> Any:
        return other | self.get_value()

    @overload
    def __rxor__(self: ReflectedOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __rxor__(self, other: Any, /) -> Any: ...
    def __rxor__(self: ReflectedOperators[Any], other: Any, /) -> Any:
        return other ^ self.get_value()

    @overload
    def __rpow__(
        self: ReflectedOperators[jax.Array], other: Any, mod: Any = None, /
    ) -> jax.Array: ...
    @overload
    def __rpow__(self, other: Any, mod: Any = None, /) -> Any: ...
    def __rpow__(self: ReflectedOperators[Any], other: Any, mod: Any = None, /) -> Any:
        return pow(other, self.get_value(), mod)

    def __rdivmod__(self: ReflectedOperators[Any], other: Any, /) -> Any:
        return divmod(other, self.get_value())
