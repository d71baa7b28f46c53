"""`List`: a list that is a Module, so that what it holds is data."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, MutableSequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, overload

from typed_nnx._core.cells import graph_lock, mark_structure
from typed_nnx._core.display import DictDisplay, SequenceDisplay
from typed_nnx._core.fields import Mark, decide_status
from typed_nnx._core.jax_runtime import context, where
from typed_nnx._core.modules import Module
from typed_nnx._core.nodes import STATIC, kind_of, store_spec
from typed_nnx._core.rngs import Rngs
from typed_nnx.errors import ArgumentTypeError, TraceLevelError

A = TypeVar("A")


class Dict(DictDisplay, Module, MutableMapping[str, A]):
    """A dict with text keys whose arrays, Variables and Modules are data.

    The entries are attributes too: ``d["a"]`` is ``d.a``.

    Args:
        *args: A mapping or pairs, as for the built-in dict.
        **kwargs: More entries.
    """

    @overload
    def __init__(
        self, mapping: Mapping[str, A] | Iterable[tuple[str, A]], /, **kwargs: A
    ) -> None: ...
    @overload
    def __init__(self, /, **kwargs: A) -> None: ...
    def __init__(self, /, *args: Any, **kwargs: Any) -> None:
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def __getitem__(self, key: str) -> A:
        found: A = self.__dict__[key]
        return found

    def __setitem__(self, key: str, value: A) -> None:
        _check_key(key)
        setattr(self, key, value)

    def __delitem__(self, key: str) -> None:
        if key not in self.__dict__:
            raise KeyError(key)  # as dicts do
        delattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self.__dict__))

    def __len__(self) -> int:
        return len(self.__dict__)

    def __contains__(self, key: object) -> bool:
        return key in self.__dict__

    def __getattr__(self, name: str) -> A:
        # Reached only for what does not exist; it gives type checkers the type of the entries.
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    if not TYPE_CHECKING:  # the inherited signature is the precise one

        def update(self, other=(), /, **kwds):
            """Set entries: all of them, or none if one of them is not allowed."""
            entries = dict(other, **kwds)
            for key, value in entries.items():
                self._check_entry(key, value)
            for key, value in entries.items():
                self[key] = value

    def _check_entry(self, key: str, value: object) -> None:
        """Raise what assigning an entry would raise."""
        _check_key(key)
        if not self._nnx_is_pytree:
            return
        current = self._nnx_status.get(key)
        if type(value) is Mark:
            decide_status(self, key, value.value, value.is_data, None, current)
        else:
            decide_status(self, key, value, None, self._nnx_declared.get(key), current)

    def _marked(self) -> dict[str, Any]:
        """Return the entries, each with the status that it has."""
        status = self._nnx_status
        return {
            name: Mark(value, status[name]) if name in status else value
            for name, value in self.__dict__.items()
        }

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self.__dict__))

    def copy(self) -> Dict[A]:
        """Return a Dict with the same entries."""
        return type(self)(self._marked())

    def __or__(self, other: Mapping[str, A]) -> Dict[A]:
        if not isinstance(other, Mapping):
            return NotImplemented
        entries = other._marked() if isinstance(other, Dict) else other
        return type(self)({**self._marked(), **entries})

    def __ror__(self, other: Mapping[str, A]) -> Dict[A]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return type(self)({**other, **self._marked()})

    def __ior__(self, other: Mapping[str, A]) -> Self:
        self.update(other)
        return self

    def __hash__(self) -> int:
        return id(self)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.__dict__)


def _check_key(key: object) -> None:
    if not isinstance(key, str):
        raise ArgumentTypeError(
            "nnx.Dict",
            f"the key is {key!r} ({type(key).__name__}); attribute name must be string.",
            "use an nnx.List for integer keys, or nnx.data({...})",
        )


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
        with graph_lock:
            return [attributes[_name(index)] for index in range(attributes["_length"])]

    def _marked(self) -> list[Any]:
        """Return the elements, each with the status that it has."""
        status = self._nnx_status
        with graph_lock:
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

    def _edit(self, edit: Callable[[list[Any]], object]) -> None:
        """Change the elements as a list: all of it at one moment, or nothing."""
        with graph_lock:
            values = self._marked()
            edit(values)
            self._rewrite(values)

    def _status_of(self, index: int, value: object) -> bool | None:
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
            message = f"Index out of bounds: {index} in a List of {length} elements"
            raise IndexError(message)  # as lists do: iteration ends with it
        return place

    # -- the list ---------------------------------------------------------------------------------

    @overload
    def __getitem__(self, index: int) -> A: ...
    @overload
    def __getitem__(self, index: slice) -> list[A]: ...
    def __getitem__(self, index: int | slice) -> A | list[A]:
        if isinstance(index, slice):
            return self._elements()[index]
        with graph_lock:
            found: A = self.__dict__[_name(self._index(index))]
        return found

    @overload
    def __setitem__(self, index: int, value: A) -> None: ...
    @overload
    def __setitem__(self, index: slice, value: Iterable[A]) -> None: ...
    def __setitem__(self, index: int | slice, value: Any) -> None:
        if isinstance(index, slice):
            added = list(value)
            self._edit(lambda values: values.__setitem__(index, added))
        else:
            with graph_lock:
                self._assign(_name(self._index(index)), value)

    def __delitem__(self, index: int | slice) -> None:
        with graph_lock:
            place = index if isinstance(index, slice) else self._index(index)
            self._edit(lambda values: values.__delitem__(place))

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[A]:
        return iter(self._elements())

    def insert(self, index: int, value: A) -> None:
        """Insert a value before an index."""
        self._edit(lambda values: values.insert(index, value))

    def append(self, value: A) -> None:
        """Add a value at the end."""
        with graph_lock:
            length = self._length
            self._assign(_name(length), value)
            self._assign("_length", length + 1)

    def extend(self, values: Iterable[A]) -> None:
        """Add values at the end: all of them, or none if one of them is not allowed."""
        added: list[Any] = list(values)
        if added:
            self._edit(lambda values: values.extend(added))

    def reverse(self) -> None:
        """Reverse the order of the elements."""
        self._edit(lambda values: values.reverse())

    def clear(self) -> None:
        """Remove all elements."""
        self._rewrite([])

    def sort(self, *, key: Callable[[A], Any] | None = None, reverse: bool = False) -> None:
        """Sort the elements."""
        elements, marked = self._elements(), self._marked()
        keys: list[Any] = elements if key is None else list(map(key, elements))
        order = sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
        self._rewrite([marked[index] for index in order])

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
        self._edit(lambda values: values.__setitem__(slice(None), values * times))
        return self

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, list | List):
            return self._elements() == list(other)
        return NotImplemented

    def __hash__(self) -> int:
        return id(self)


class Sequential(Module):
    """Applies callables in order; a tuple or dict that one returns becomes the next one's arguments.

    It is a sequence too: ``len``, iteration, indexing and item assignment reach the callables.

    Args:
        *fns: Modules and functions.
    """

    layers: List[Any]  # functions, and Modules with attributes of their own

    def __init__(self, *fns: Callable[..., Any]) -> None:
        self.layers = List(fns)

    def __call__(self, *args: Any, rngs: Rngs | None = None, **kwargs: Any) -> Any:
        """Apply the callables.

        Args:
            *args: For the first one.
            rngs: For each one that has a parameter ``rngs``.
            **kwargs: For the first one.

        Raises:
            ValueError: There are no callables.
            TypeError: An element is not callable.
        """
        # What an empty one returns: the one argument, all of them, or the keywords.
        output: Any = args[0] if len(args) == 1 else args or kwargs or None
        for index, function in enumerate(self.layers):
            if not callable(function):
                raise ArgumentTypeError(
                    "Sequential",
                    f"element {index} is a {type(function).__name__}, which is not callable.",
                    "pass Modules and functions",
                )
            if index > 0:
                match output:
                    case tuple():
                        args, kwargs = output, {}
                    case dict():
                        args, kwargs = (), output
                    case _:
                        args, kwargs = (output,), {}
            if rngs is not None and _takes_rngs(function):
                kwargs = {**kwargs, "rngs": rngs}
            output = function(*args, **kwargs)
        return output

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.layers)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return Sequential(*self.layers[index])
        return self.layers[index]

    def __setitem__(self, index: int, function: Callable[..., Any]) -> None:
        self.layers[index] = function

    def __bool__(self) -> bool:
        return True


def _takes_rngs(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a built-in without a signature
        return False
    return any(p.name == "rngs" or p.kind is p.VAR_KEYWORD for p in parameters.values())
