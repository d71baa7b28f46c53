"""`List`: a list that is a Module, so that what it holds is data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableSequence
from typing import Any, ClassVar, Self, TypeVar, overload

from typed_nnx._core.cells import graph_lock, mark_structure
from typed_nnx._core.display import SequenceDisplay
from typed_nnx._core.fields import Mark
from typed_nnx._core.locate import where
from typed_nnx._core.module import Module
from typed_nnx._core.nodes import STATIC, kind_of, store_spec
from typed_nnx._core.pytree_checks import decide_status
from typed_nnx._core.trace import context
from typed_nnx.errors import TraceLevelError

A = TypeVar("A")

_DIGITS = [str(index) for index in range(256)]


def _name(index: int) -> str:
    return _DIGITS[index] if index < 256 else str(index)


class List(SequenceDisplay, Module, MutableSequence[A]):
    """A list whose arrays, Variables and Modules are data; paths in it are integers.

    It behaves as a built-in list; a slice is a built-in list.

    Args:
        it: The elements.
    """

    _nnx_int_keys: ClassVar[bool] = True
    _length: int

    def __init__(self, it: Iterable[A] | None = None, /) -> None:
        self._length = 0
        if it is not None:
            self._rewrite(list(it))

    # -- elements as attributes -------------------------------------------------------------------

    def _elements(self) -> list[A]:
        attributes = self.__dict__
        return [attributes[_name(index)] for index in range(attributes["_length"])]

    def _marked(self) -> list[Any]:
        """Return the elements, each with the status that it has."""
        status = self._nnx_status
        return [
            Mark(value, status[_name(index)]) if _name(index) in status else value
            for index, value in enumerate(self._elements())
        ]

    def _rewrite(self, values: list[Any]) -> None:
        """Replace all elements, or none if one of them is not allowed."""
        if self._nnx_trace != context.trace:
            raise TraceLevelError("Pytree", type(self).__name__, "elements", where(self))
        plain = [value.value if type(value) is Mark else value for value in values]
        statuses = [self._status_of(i, value) for i, value in enumerate(values)]
        attributes = vars(self)
        with graph_lock:
            for index in range(self._length):
                name = _name(index)
                del attributes[name]
                self._nnx_status.pop(name, None)
            attributes["_length"] = len(values)
            for index, (value, status) in enumerate(zip(plain, statuses, strict=True)):
                attributes[_name(index)] = value
                if status is not None:
                    self._nnx_status[_name(index)] = status
            store_spec(self, None)
            mark_structure(self._nnx_cells)

    def _status_of(self, index: int, value: Any) -> bool | None:
        if not self._nnx_is_pytree:
            return None
        if type(value) is Mark:
            if kind_of(value.value) == STATIC:
                return value.is_data
            return decide_status(self, str(index), value.value, value.is_data, None, None)
        return decide_status(self, str(index), value, None, None, None)

    def _index(self, index: int) -> int:
        length = self._length
        place = index + length if index < 0 else index
        if not 0 <= place < length:
            raise IndexError(f"Index out of bounds: {index} in a List of {length} elements")
        return place

    # -- the list ---------------------------------------------------------------------------------

    @overload
    def __getitem__(self, index: int) -> A: ...
    @overload
    def __getitem__(self, index: slice) -> list[A]: ...
    def __getitem__(self, index: int | slice) -> A | list[A]:
        if isinstance(index, slice):
            return self._elements()[index]
        found: A = self.__dict__[_name(self._index(index))]
        return found

    @overload
    def __setitem__(self, index: int, value: A) -> None: ...
    @overload
    def __setitem__(self, index: slice, value: Iterable[A]) -> None: ...
    def __setitem__(self, index: int | slice, value: Any) -> None:
        if isinstance(index, slice):
            values = self._marked()
            values[index] = list(value)
            self._rewrite(values)
        else:
            self._assign(_name(self._index(index)), value)

    def __delitem__(self, index: int | slice) -> None:
        values = self._marked()
        del values[index if isinstance(index, slice) else self._index(index)]
        self._rewrite(values)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[A]:
        return iter(self._elements())

    def insert(self, index: int, value: A) -> None:
        """Insert a value before an index."""
        values = self._marked()
        values.insert(index, value)
        self._rewrite(values)

    def append(self, value: A) -> None:
        """Add a value at the end."""
        length = self._length
        self._assign(_name(length), value)
        self._assign("_length", length + 1)

    def extend(self, values: Iterable[A]) -> None:
        """Add values at the end: all of them, or none if one of them is not allowed."""
        added: list[Any] = list(values)
        if added:
            self._rewrite([*self._marked(), *added])

    def reverse(self) -> None:
        """Reverse the order of the elements."""
        self._rewrite(self._marked()[::-1])

    def clear(self) -> None:
        """Remove all elements."""
        self._rewrite([])

    def sort(self, *, key: Callable[[A], Any] | None = None, reverse: bool = False) -> None:
        """Sort the elements."""
        marked = zip(self._elements(), self._marked(), strict=True)

        def order(pair: tuple[Any, Any]) -> Any:
            return pair[0] if key is None else key(pair[0])

        pairs = sorted(marked, key=order, reverse=reverse)
        self._rewrite([mark for _, mark in pairs])

    def copy(self) -> List[A]:
        """Return a List with the same elements."""
        return type(self)(self._marked())

    def __add__(self, other: Iterable[A]) -> List[A]:
        if not isinstance(other, list | List):
            return NotImplemented
        return type(self)([*self._marked(), *other])

    def __radd__(self, other: Iterable[A]) -> List[A]:
        if not isinstance(other, list):
            return NotImplemented
        return type(self)([*other, *self._marked()])

    def __iadd__(self, values: Iterable[A]) -> Self:
        self.extend(values)
        return self

    def __mul__(self, times: int) -> List[A]:
        return type(self)(self._marked() * times)

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Self:
        self._rewrite(self._marked() * times)
        return self

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, list | List):
            return self._elements() == list(other)
        return NotImplemented

    def __hash__(self) -> int:
        return id(self)
