"""Operators and array methods of a Variable, computed on its value.

Operators are made from a table; array methods are looked up on the value. The declarations under
``TYPE_CHECKING`` are what type checkers and editors see.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
    overload,
)

import jax
import numpy as np
import numpy.typing as npt

A = TypeVar("A")
P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class ValueHolder(Generic[A]):
    """Something with one value that operators read and, in place, replace."""

    __slots__ = ()

    def get_value(self) -> A:
        """Return the value that operators work on."""
        raise NotImplementedError

    def set_value(self, value: A) -> None:
        """Replace the value; in-place operators call it."""
        raise NotImplementedError


if TYPE_CHECKING:
    Operand: TypeAlias = Any  # what the operator of the value takes, which is not known here

    class Attribute(Generic[R]):
        """An attribute with the type that it has on the value."""

        def __get__(self, holder: object, owner: object = None, /) -> R: ...

    class Unknown:
        """A type that no value has: only Any matches it."""

    class Computes(Protocol[R_co]):
        """A holder of a value whose operators return an ``R_co``."""

        def _result(self, /) -> R_co: ...

    def _attribute(
        read: Callable[[jax.Array], R],
    ) -> Callable[[Callable[..., object]], Attribute[R]]: ...
    def _method(
        method: Callable[Concatenate[jax.Array, P], R],
    ) -> Callable[[Callable[..., object]], Attribute[Callable[P, R]]]: ...


# Array protocols that their users look up on the instance. Other private names stay unknown, else
# `copy.deepcopy` or a pretty printer would find the value's hooks and take the value for us.
_FORWARDED_PROTOCOLS = frozenset(
    {"__dlpack__", "__dlpack_device__", "__array_namespace__", "__cuda_array_interface__"}
)


class ArrayMethods(ValueHolder[A]):
    """The public interface of ``jax.Array``, looked up on the value.

    ``__getattr__`` finds it, so that metadata of the same name comes first (a subclass looks there
    before it calls ``super()``) and the value answers with its own signature, whether it is a jax
    or numpy array, a tracer or something else.
    """

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        value: Any = self.get_value()
        shape: tuple[int, ...] = value.shape
        return shape

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") or name in _FORWARDED_PROTOCOLS:
            value = self.get_value()
            try:
                return getattr(value, name)
            except AttributeError as error:
                owner = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(
                    f"{owner}, nor has its value of type {type(value).__name__!r}",
                    name=name,
                    obj=self,
                ) from error
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
        )

    if TYPE_CHECKING:

        @property
        def dtype(self) -> np.dtype[Any]:
            """The dtype of the value."""
            ...

        @property
        def ndim(self) -> int:
            """The number of axes."""
            ...

        @property
        def size(self) -> int:
            """The number of elements."""
            ...

        @property
        def itemsize(self) -> int:
            """The number of bytes of one element."""
            ...

        @property
        def nbytes(self) -> int:
            """The number of bytes of all elements."""
            ...

        @property
        def weak_type(self) -> bool:
            """Whether the dtype gives way to that of another operand."""
            ...

        @property
        def T(self) -> jax.Array:
            """The value with its axes in reverse order."""
            ...

        @property
        def mT(self) -> jax.Array:
            """The value with its last two axes swapped."""
            ...

        @property
        def real(self) -> jax.Array:
            """The real part."""
            ...

        @property
        def imag(self) -> jax.Array:
            """The imaginary part."""
            ...

        @property
        def is_fully_addressable(self) -> bool:
            """Whether this process can reach all shards."""
            ...

        @property
        def is_fully_replicated(self) -> bool:
            """Whether each device holds the whole value."""
            ...

        @property
        def committed(self) -> bool:
            """Whether the value was placed on its devices explicitly."""
            ...

        @_attribute(lambda array: array.at)
        def at(self) -> object:
            """Select elements to update: ``variable.at[index].set(x)`` returns a changed copy."""
            ...

        @_method(jax.Array.addressable_data)
        def addressable_data(self) -> object: ...
        @_method(jax.Array.all)
        def all(self) -> object: ...
        @_method(jax.Array.any)
        def any(self) -> object: ...
        @_method(jax.Array.argmax)
        def argmax(self) -> object: ...
        @_method(jax.Array.argmin)
        def argmin(self) -> object: ...
        @_method(jax.Array.argpartition)
        def argpartition(self) -> object: ...
        @_method(jax.Array.argsort)
        def argsort(self) -> object: ...
        @_method(jax.Array.astype)
        def astype(self) -> object: ...
        @_method(jax.Array.block_until_ready)
        def block_until_ready(self) -> object: ...
        @_method(jax.Array.byteswap)
        def byteswap(self) -> object: ...
        @_method(jax.Array.choose)
        def choose(self) -> object: ...
        @_method(jax.Array.clip)
        def clip(self) -> object: ...
        @_method(jax.Array.compress)
        def compress(self) -> object: ...
        @_method(jax.Array.conj)
        def conj(self) -> object: ...
        @_method(jax.Array.conjugate)
        def conjugate(self) -> object: ...
        @_method(jax.Array.copy_to_host_async)
        def copy_to_host_async(self) -> object: ...
        @_method(jax.Array.cumprod)
        def cumprod(self) -> object: ...
        @_method(jax.Array.cumsum)
        def cumsum(self) -> object: ...
        @_method(jax.Array.delete)
        def delete(self) -> object: ...
        @_method(jax.Array.devices)
        def devices(self) -> object: ...
        @_method(jax.Array.diagonal)
        def diagonal(self) -> object: ...
        @_method(jax.Array.dot)
        def dot(self) -> object: ...
        @_method(jax.Array.flatten)
        def flatten(self) -> object: ...
        @_method(jax.Array.is_deleted)
        def is_deleted(self) -> object: ...

        def is_ready(self) -> bool: ...  # jax declares none

        @_method(jax.Array.item)
        def item(self) -> object: ...
        @_method(jax.Array.max)
        def max(self) -> object: ...
        @_method(jax.Array.mean)
        def mean(self) -> object: ...
        @_method(jax.Array.min)
        def min(self) -> object: ...
        @_method(jax.Array.nonzero)
        def nonzero(self) -> object: ...
        @_method(jax.Array.prod)
        def prod(self) -> object: ...
        @_method(jax.Array.ptp)
        def ptp(self) -> object: ...
        @_method(jax.Array.ravel)
        def ravel(self) -> object: ...
        @_method(jax.Array.repeat)
        def repeat(self) -> object: ...
        @_method(jax.Array.reshape)
        def reshape(self) -> object: ...
        @_method(jax.Array.round)
        def round(self) -> object: ...
        @_method(jax.Array.searchsorted)
        def searchsorted(self) -> object: ...
        @_method(jax.Array.sort)
        def sort(self) -> object: ...
        @_method(jax.Array.squeeze)
        def squeeze(self) -> object: ...
        @_method(jax.Array.std)
        def std(self) -> object: ...
        @_method(jax.Array.sum)
        def sum(self) -> object: ...
        @_method(jax.Array.swapaxes)
        def swapaxes(self) -> object: ...
        @_method(jax.Array.take)
        def take(self) -> object: ...
        @_method(jax.Array.to_device)
        def to_device(self) -> object: ...
        @_method(jax.Array.tobytes)
        def tobytes(self) -> object: ...
        @_method(jax.Array.tolist)
        def tolist(self) -> object: ...
        @_method(jax.Array.trace)
        def trace(self) -> object: ...
        @_method(jax.Array.transpose)
        def transpose(self) -> object: ...
        @_method(jax.Array.var)
        def var(self) -> object: ...
        @_method(jax.Array.view)
        def view(self) -> object: ...


class ArrayOperators(ValueHolder[A]):
    """Every operator of Python for a holder of one value, computed on the value.

    An operand that holds a value is replaced by it. ``variable += x`` writes the result back and
    keeps the Variable. A comparison returns what the value returns, an array for arrays, and
    therefore a Variable has no hash: use ``id(variable)`` as a key.

    The static type of a result is ``jax.Array`` where the value's is, else ``Any``: for other
    values it depends on both operands.
    """

    __slots__ = ()

    # numpy leaves an operation to a right operand of higher priority; without it numpy would
    # convert the Variable itself, and a traced value cannot become a numpy array.
    __array_priority__: ClassVar[int] = 100

    if TYPE_CHECKING:
        # The methods that are made below.

        @overload
        def _result(self: ArrayOperators[Unknown], /) -> Any: ...
        @overload
        def _result(self: ArrayOperators[jax.Array], /) -> jax.Array: ...
        @overload
        def _result(self, /) -> Any: ...
        def _result(self, /) -> Any: ...

        def __neg__(self: Computes[R], /) -> R: ...
        def __pos__(self: Computes[R], /) -> R: ...
        def __abs__(self: Computes[R], /) -> R: ...
        def __invert__(self: Computes[R], /) -> R: ...
        def __lt__(self: Computes[R], other: Operand, /) -> R: ...
        def __le__(self: Computes[R], other: Operand, /) -> R: ...
        def __gt__(self: Computes[R], other: Operand, /) -> R: ...
        def __ge__(self: Computes[R], other: Operand, /) -> R: ...
        def __add__(self: Computes[R], other: Operand, /) -> R: ...
        def __sub__(self: Computes[R], other: Operand, /) -> R: ...
        def __mul__(self: Computes[R], other: Operand, /) -> R: ...
        def __truediv__(self: Computes[R], other: Operand, /) -> R: ...
        def __floordiv__(self: Computes[R], other: Operand, /) -> R: ...
        def __mod__(self: Computes[R], other: Operand, /) -> R: ...
        def __matmul__(self: Computes[R], other: Operand, /) -> R: ...
        def __lshift__(self: Computes[R], other: Operand, /) -> R: ...
        def __rshift__(self: Computes[R], other: Operand, /) -> R: ...
        def __and__(self: Computes[R], other: Operand, /) -> R: ...
        def __or__(self: Computes[R], other: Operand, /) -> R: ...
        def __xor__(self: Computes[R], other: Operand, /) -> R: ...
        def __radd__(self: Computes[R], other: Operand, /) -> R: ...
        def __rsub__(self: Computes[R], other: Operand, /) -> R: ...
        def __rmul__(self: Computes[R], other: Operand, /) -> R: ...
        def __rtruediv__(self: Computes[R], other: Operand, /) -> R: ...
        def __rfloordiv__(self: Computes[R], other: Operand, /) -> R: ...
        def __rmod__(self: Computes[R], other: Operand, /) -> R: ...
        def __rmatmul__(self: Computes[R], other: Operand, /) -> R: ...
        def __rlshift__(self: Computes[R], other: Operand, /) -> R: ...
        def __rrshift__(self: Computes[R], other: Operand, /) -> R: ...
        def __rand__(self: Computes[R], other: Operand, /) -> R: ...
        def __ror__(self: Computes[R], other: Operand, /) -> R: ...
        def __rxor__(self: Computes[R], other: Operand, /) -> R: ...
        def __iadd__(self, other: Operand, /) -> Self: ...
        def __isub__(self, other: Operand, /) -> Self: ...
        def __imul__(self, other: Operand, /) -> Self: ...
        def __itruediv__(self, other: Operand, /) -> Self: ...
        def __ifloordiv__(self, other: Operand, /) -> Self: ...
        def __imod__(self, other: Operand, /) -> Self: ...
        def __imatmul__(self, other: Operand, /) -> Self: ...
        def __ilshift__(self, other: Operand, /) -> Self: ...
        def __irshift__(self, other: Operand, /) -> Self: ...
        def __iand__(self, other: Operand, /) -> Self: ...
        def __ior__(self, other: Operand, /) -> Self: ...
        def __ixor__(self, other: Operand, /) -> Self: ...
        def __round__(self: Computes[R], ndigits: int = 0, /) -> R: ...
        def __iter__(self: Computes[R]) -> Iterator[R]: ...
        def __pow__(self: Computes[R], other: Operand, mod: Operand = None, /) -> R: ...
        def __rpow__(self: Computes[R], other: Operand, mod: Operand = None, /) -> R: ...
        def __ipow__(self, other: Operand, mod: Operand = None, /) -> Self: ...
        def __divmod__(self, other: Operand, /) -> Any: ...
        def __rdivmod__(self, other: Operand, /) -> Any: ...
        def __ceil__(self) -> Any: ...
        def __floor__(self) -> Any: ...
        def __trunc__(self) -> Any: ...
        def __int__(self) -> int: ...
        def __float__(self) -> float: ...
        def __complex__(self) -> complex: ...
        def __index__(self) -> int: ...
        def __len__(self) -> int: ...

        def __eq__(self: Computes[R], other: object, /) -> R: ...  # pyright: ignore[reportIncompatibleMethodOverride]  # as arrays do
        def __ne__(self: Computes[R], other: object, /) -> R: ...  # pyright: ignore[reportIncompatibleMethodOverride]

    else:
        # As beside an __eq__ in the class. If checkers saw it, mypy would believe that the classes
        # themselves have no hash.
        __hash__ = None

        def __round__(self, ndigits=0, /):
            return round(self.get_value(), ndigits)

        def __iter__(self):
            return iter(self.get_value())

        def __pow__(self, other, mod=None, /):
            operand = other.get_value() if isinstance(other, ValueHolder) else other
            return pow(self.get_value(), operand, mod)

        def __rpow__(self, other, mod=None, /):
            return pow(other, self.get_value(), mod)

        def __ipow__(self, other, mod=None, /):
            self.set_value(pow(self, other, mod))
            return self

    def __bool__(self) -> bool:
        """Say whether the value is non-empty or, for a value without length, true.

        An array of rank one and above answers by its length, as flax's Variable does, so that
        ``if variable:`` does not depend on the elements of a weight.
        """
        value: Any = self.get_value()
        try:
            return len(value) > 0
        except TypeError:
            return bool(value)

    def __contains__(self: ArrayOperators[Any], item: object, /) -> bool:
        return item in self.get_value()

    def __jax_array__(self: ArrayOperators[Any]) -> jax.Array:
        """Return the value, so that every ``jax.numpy`` function takes a Variable."""
        value: jax.Array = self.get_value()
        return value

    def __array__(
        self, dtype: npt.DTypeLike | None = None, *, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        """Return the value as a numpy array; ``copy`` is as in ``numpy.array``."""
        return np.array(self.get_value(), dtype=dtype, copy=copy)


def _unary(operate: Callable[[Any], Any]) -> Callable[..., Any]:
    def method(self: ValueHolder[Any]) -> Any:
        return operate(self.get_value())

    return method


def _binary(operate: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def method(self: ValueHolder[Any], other: Any, /) -> Any:
        return operate(
            self.get_value(), other.get_value() if isinstance(other, ValueHolder) else other
        )

    return method


def _reflected(operate: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def method(self: ValueHolder[Any], other: Any, /) -> Any:
        return operate(other, self.get_value())

    return method


def _in_place(operate: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    # Not the in-place operator of the value: someone else may hold a mutable value.
    def method(self: ValueHolder[Any], other: Any, /) -> Any:
        operand = other.get_value() if isinstance(other, ValueHolder) else other
        self.set_value(operate(self.get_value(), operand))
        return self

    return method


def _methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the names, without underscores, and the methods that are made."""
    for name in ("neg", "pos", "abs", "invert", "index"):
        yield name, _unary(getattr(operator, f"__{name}__"))
    for function in (int, float, complex, len, math.ceil, math.floor, math.trunc):
        yield function.__name__, _unary(function)
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        yield name, _binary(getattr(operator, name))
    yield from (("divmod", _binary(divmod)), ("rdivmod", _reflected(divmod)))
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "matmul"),
        *("lshift", "rshift", "and", "or", "xor"),
    ):
        operate = getattr(operator, f"__{name}__")
        yield name, _binary(operate)
        yield f"r{name}", _reflected(operate)
        yield f"i{name}", _in_place(operate)


for _name, _made in _methods():
    _made.__name__ = f"__{_name}__"
    _made.__qualname__ = f"ArrayOperators.{_made.__name__}"
    setattr(ArrayOperators, _made.__name__, _made)
