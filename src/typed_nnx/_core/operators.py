"""Operators with a Variable on the left, comparisons and in-place operators."""

from __future__ import annotations

from typing import Any, Self, TypeVar, overload

import jax

from typed_nnx._core.reflected_operators import ReflectedOperators
from typed_nnx._core.unary_operators import UnaryOperators
from typed_nnx._core.value_holder import ValueHolder

A = TypeVar("A")


class ArrayOperators(ReflectedOperators[A], UnaryOperators[A]):
    """Every operator of Python for a holder of one value, computed on the value.

    An operand that holds a value is replaced by it. ``variable += x`` writes the result back and
    keeps the Variable. A comparison returns what the value returns, an array for arrays, and
    therefore a Variable has no hash: use ``id(variable)`` as a key.

    The static type of a result is ``jax.Array`` where the value's is, else ``Any``: for other
    values it depends on both operands.
    """

    __slots__ = ()

    @overload
    def __add__(self: ArrayOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __add__(self, other: Any, /) -> Any: ...
    def __add__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return self.get_value() + (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __sub__(self: ArrayOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __sub__(self, other: Any, /) -> Any: ...
    def __sub__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return self.get_value() - (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __mul__(self: ArrayOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __mul__(self, other: Any, /) -> Any: ...
    def __mul__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return self.get_value() * (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __truediv__(self: ArrayOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __truediv__(self, other: Any, /) -> Any: ...
    def __truediv__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return self.get_value() / (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __floordiv__(self: ArrayOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __floordiv__(self, other: Any, /) -> Any: ...
    def __floordiv__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return self.get_value() // (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __mod__(self: ArrayOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __mod__(self, other: Any, /) -> Any: ...
    def __mod__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return self.get_value() % (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __matmul__(self: ArrayOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __matmul__(self, other: Any, /) -> Any: ...
    def __matmul__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return self.get_value() @ (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __lshift__(self: ArrayOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __lshift__(self, other: Any, /) -> Any: ...
    def __lshift__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return self.get_value() << (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __rshift__(self: ArrayOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __rshift__(self, other: Any, /) -> Any: ...
    def __rshift__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return self.get_value() >> (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __and__(self: ArrayOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __and__(self, other: Any, /) -> Any: ...
    def __and__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return self.get_value() & (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __or__(self: ArrayOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __or__(self, other: Any, /) -> Any: ...
    def __or__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return self.get_value() | (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __xor__(self: ArrayOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __xor__(self, other: Any, /) -> Any: ...
    def __xor__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return self.get_value() ^ (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __pow__(self: ArrayOperators[jax.Array], other: Any, mod: Any = None, /) -> jax.Array: ...
    @overload
    def __pow__(self, other: Any, mod: Any = None, /) -> Any: ...
    def __pow__(self: ArrayOperators[Any], other: Any, mod: Any = None, /) -> Any:
        return pow(
            self.get_value(), other.get_value() if isinstance(other, ValueHolder) else other, mod
        )

    def __divmod__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return divmod(
            self.get_value(), other.get_value() if isinstance(other, ValueHolder) else other
        )

    @overload
    def __lt__(self: ArrayOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __lt__(self, other: Any, /) -> Any: ...
    def __lt__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return self.get_value() < (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __le__(self: ArrayOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __le__(self, other: Any, /) -> Any: ...
    def __le__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return self.get_value() <= (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __gt__(self: ArrayOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __gt__(self, other: Any, /) -> Any: ...
    def __gt__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return self.get_value() > (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __ge__(self: ArrayOperators[jax.Array], other: Any, /) -> jax.Array: ...
    @overload
    def __ge__(self, other: Any, /) -> Any: ...
    def __ge__(self: ArrayOperators[Any], other: Any, /) -> Any:
        return self.get_value() >= (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __eq__(self: ArrayOperators[jax.Array], other: object, /) -> jax.Array: ...
    @overload
    def __eq__(self, other: object, /) -> Any: ...
    def __eq__(self: ArrayOperators[Any], other: object, /) -> Any:
        return self.get_value() == (other.get_value() if isinstance(other, ValueHolder) else other)

    @overload
    def __ne__(self: ArrayOperators[jax.Array], other: object, /) -> jax.Array: ...
    @overload
    def __ne__(self, other: object, /) -> Any: ...
    def __ne__(self: ArrayOperators[Any], other: object, /) -> Any:
        return self.get_value() != (other.get_value() if isinstance(other, ValueHolder) else other)

    # No __hash__: the class has __eq__, so Python sets it to None. Declaring that here would make
    # mypy believe that the classes themselves have no hash.

    def __iadd__(self, other: Any, /) -> Self:
        value: Any = self.get_value()
        self.set_value(value + (other.get_value() if isinstance(other, ValueHolder) else other))
        return self

    def __isub__(self, other: Any, /) -> Self:
        value: Any = self.get_value()
        self.set_value(value - (other.get_value() if isinstance(other, ValueHolder) else other))
        return self

    def __imul__(self, other: Any, /) -> Self:
        value: Any = self.get_value()
        self.set_value(value * (other.get_value() if isinstance(other, ValueHolder) else other))
        return self

    def __itruediv__(self, other: Any, /) -> Self:
        value: Any = self.get_value()
        self.set_value(value / (other.get_value() if isinstance(other, ValueHolder) else other))
        return self

    def __ifloordiv__(self, other: Any, /) -> Self:
        value: Any = self.get_value()
        self.set_value(value // (other.get_value() if isinstance(other, ValueHolder) else other))
        return self

    def __imod__(self, other: Any, /) -> Self:
        value: Any = self.get_value()
        self.set_value(value % (other.get_value() if isinstance(other, ValueHolder) else other))
        return self

    def __imatmul__(self, other: Any, /) -> Self:
        value: Any = self.get_value()
        self.set_value(value @ (other.get_value() if isinstance(other, ValueHolder) else other))
        return self

    def __ilshift__(self, other: Any, /) -> Self:
        value: Any = self.get_value()
        self.set_value(value << (other.get_value() if isinstance(other, ValueHolder) else other))
        return self

    def __irshift__(self, other: Any, /) -> Self:
        value: Any = self.get_value()
        self.set_value(value >> (other.get_value() if isinstance(other, ValueHolder) else other))
        return self

    def __iand__(self, other: Any, /) -> Self:
        value: Any = self.get_value()
        self.set_value(value & (other.get_value() if isinstance(other, ValueHolder) else other))
        return self

    def __ior__(self, other: Any, /) -> Self:
        value: Any = self.get_value()
        self.set_value(value | (other.get_value() if isinstance(other, ValueHolder) else other))
        return self

    def __ixor__(self, other: Any, /) -> Self:
        value: Any = self.get_value()
        self.set_value(value ^ (other.get_value() if isinstance(other, ValueHolder) else other))
        return self

    def __ipow__(self, other: Any, mod: Any = None, /) -> Self:
        value: Any = self.get_value()
        operand = other.get_value() if isinstance(other, ValueHolder) else other
        self.set_value(pow(value, operand, mod))
        return self
