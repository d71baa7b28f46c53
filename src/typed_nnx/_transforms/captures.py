"""Objects that a function closes over: found outside a transform, exchanged inside.

Looked through are free variables, default arguments, the arguments of `functools.partial`, the
``self`` of bound methods, callable Modules, lists, tuples and dicts of Modules, and functions
inside all of these. Globals are not looked at.
"""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from typed_nnx._core.nodes import CONTAINER, GraphNode, kind_of, one_level
from typed_nnx._core.variable import Variable

_MANY = 1000  # a container with more entries is data, and not searched


@runtime_checkable
class WrapsFunction(Protocol):
    """A transformed function: it can be had with another function inside."""

    def nnx_function(self) -> Any:
        """Return the function inside."""
        ...

    def nnx_with_function(self, function: Any) -> Any:
        """Return a copy with another function inside."""
        ...


class Captures:
    """What a function closes over.

    Attributes:
        objects: The Modules and Variables, each once.
        carriers: The ids of the functions and containers through which they are reached.
        is_nothing: The function can never close over anything.
    """

    __slots__ = ("_holders", "_seen", "_watched", "carriers", "is_nothing", "objects")

    def __init__(self, function: Any) -> None:
        self.objects: list[Any] = []
        self._seen: dict[int, Any] = {}
        self._holders: dict[int, list[Any]] = {}
        # Cells and what was in them, and containers and what they held.
        self._watched: list[tuple[Any, Any]] = []
        self._look_at(function)
        self.carriers: set[int] = self._carriers()
        self.is_nothing: bool = not self._watched and not self.objects

    def is_current(self) -> bool:
        """Whether the function still closes over the same things."""
        for holder, content in self._watched:
            if type(holder) is types.CellType:
                if _content(holder) is not content:
                    return False
            elif type(holder) is types.FunctionType:
                if not _identical(_defaults(holder), content):
                    return False
            elif not _identical(_entries(holder), content):
                return False
        return True

    def _look_at(self, value: Any) -> None:
        if type(value) in _NOTHING or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, GraphNode | Variable):
            self.objects.append(value)
            return
        before = len(self.objects)
        for part in self._parts(value):
            self._holders.setdefault(id(part), []).append(value)
            self._look_at(part)
        if isinstance(value, list | dict) and (len(self.objects) > before or not value):
            self._watched.append((value, _entries(value)))

    def _parts(self, value: Any) -> list[Any]:
        if isinstance(value, types.FunctionType):
            cells = value.__closure__ or ()
            contents = [_content(cell) for cell in cells]
            self._watched.extend(zip(cells, contents, strict=True))
            defaults = _defaults(value)
            if defaults:
                self._watched.append((value, defaults))
            return [*contents, *defaults]
        if isinstance(value, functools.partial):
            return [value.func, *value.args, *value.keywords.values()]
        if isinstance(value, types.MethodType):
            return [value.__self__, value.__func__]
        if isinstance(value, list | tuple | dict):
            return _entries(value) if len(value) <= _MANY else []
        if isinstance(value, type):
            return []
        if isinstance(value, WrapsFunction):
            return [value.nnx_function()]
        if kind_of(value) == CONTAINER:  # a dataclass that jax knows, a State
            return [child for _, child in one_level(value)[0]]
        return []

    def _carriers(self) -> set[int]:
        found: set[int] = set()
        todo = list(self.objects)
        while todo:
            for holder in self._holders.get(id(todo.pop()), ()):
                if id(holder) not in found:
                    found.add(id(holder))
                    todo.append(holder)
        return found

    def exchanged(self, function: Any, others: Sequence[Any]) -> Any:
        """Return the function closing over other objects in the place of `objects`."""
        if not self.objects:
            return function
        exchange = _Exchange(self.carriers, self.objects, others)
        return exchange(function)


_NOTHING: frozenset[type] = frozenset({int, float, bool, str, complex, bytes, type(None), type})
_EMPTY = object()


def _defaults(function: types.FunctionType) -> list[Any]:
    return [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing was assigned yet
        return _EMPTY


def _entries(container: Any) -> list[Any]:
    return list(container.values() if isinstance(container, Mapping) else container)


def _identical(left: Sequence[Any], right: Sequence[Any]) -> bool:
    return len(left) == len(right) and all(one is two for one, two in zip(left, right, strict=True))


class _Exchange:
    """Makes copies of functions and containers in which objects are exchanged for others."""

    __slots__ = ("_carriers", "_made")

    def __init__(self, carriers: set[int], objects: Sequence[Any], others: Sequence[Any]) -> None:
        self._carriers = carriers
        self._made: dict[int, Any] = dict(zip(map(id, objects), others, strict=True))

    def __call__(self, value: Any) -> Any:
        """Return a value with the objects in it exchanged; the value itself if it has none."""
        if id(value) in self._made:
            return self._made[id(value)]
        if id(value) not in self._carriers:
            return value
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if type(value) is list:
            return self._list(value)
        if isinstance(value, dict):
            return self._dict(value)
        made = self._made[id(value)] = self._copy(value)
        return made

    # Known before they are filled: a list or dict may hold itself.

    def _list(self, value: list[Any]) -> list[Any]:
        made: list[Any] = []
        self._made[id(value)] = made
        made.extend(map(self, value))
        return made

    def _dict(self, value: dict[Any, Any]) -> dict[Any, Any]:
        made = copy.copy(value)
        self._made[id(value)] = made
        for key, entry in value.items():
            made[key] = self(entry)
        return made

    def _copy(self, value: Any) -> Any:
        if isinstance(value, functools.partial):
            keywords = {name: self(argument) for name, argument in value.keywords.items()}
            return functools.partial(self(value.func), *map(self, value.args), **keywords)
        if isinstance(value, types.MethodType):
            return types.MethodType(self(value.__func__), self(value.__self__))
        if isinstance(value, tuple) and (make := getattr(value, "_make", None)):  # a named tuple
            return make(map(self, value))
        if isinstance(value, list | tuple):
            return type(value)(map(self, value))
        if isinstance(value, WrapsFunction):
            return value.nnx_with_function(self(value.nnx_function()))
        entries, treedef = one_level(value)
        return treedef.unflatten([self(child) for _, child in entries])

    def _function(self, function: types.FunctionType) -> types.FunctionType:
        # What is not exchanged keeps its cell, so that `nonlocal` still reaches it.
        cells = [
            types.CellType() if self._concerns(_content(cell)) else cell
            for cell in function.__closure__ or ()
        ]
        made = types.FunctionType(
            function.__code__, function.__globals__, function.__name__, None, tuple(cells) or None
        )
        # Known before its parts are looked at: a recursive function is in its own closure.
        self._made[id(function)] = made
        for old, new in zip(function.__closure__ or (), cells, strict=True):
            if old is not new:
                new.cell_contents = self(_content(old))
        if function.__defaults__:
            made.__defaults__ = tuple(map(self, function.__defaults__))
        if function.__kwdefaults__:
            made.__kwdefaults__ = {k: self(v) for k, v in function.__kwdefaults__.items()}
        made.__dict__.update(function.__dict__)
        made.__qualname__, made.__module__ = function.__qualname__, function.__module__
        made.__doc__, made.__annotations__ = function.__doc__, function.__annotations__
        return made

    def _concerns(self, content: Any) -> bool:
        return id(content) in self._made or id(content) in self._carriers
