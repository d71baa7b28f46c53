"""Objects that a function closes over: found outside a transform, exchanged inside.

Looked through are free variables, default arguments, the arguments of `functools.partial`, the
``self`` of bound methods, callable Modules, lists, tuples and dicts of Modules, and functions
inside all of these. Globals are not looked at.
"""

from __future__ import annotations

import copy
import functools
import operator
import types
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import jax

from typed_nnx._core.nodes import CONTAINER, GraphNode, kind_of, one_level
from typed_nnx._core.variable import Variable


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
        # Cells and what was in them; functions with their defaults, and containers with their entries.
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
            elif not _identical(_held(holder), content):
                return False
        return True

    def can_be_watched(self) -> bool:
        """Whether `is_current` tells all changes: nothing is among these that can change unseen."""
        return all(map(_is_watched, self._seen.values()))

    def globals(self) -> list[tuple[dict[str, Any], str, Any]]:
        """Return the globals that the functions name, with their values.

        Each is given by the dict that it is in, its name and its value. Of functions that are globals
        themselves those of the same file are looked at too.
        """
        found: dict[tuple[int, str], tuple[dict[str, Any], str, Any]] = {}
        functions = [
            value for value in self._seen.values() if isinstance(value, types.FunctionType)
        ]
        for function in functions:  # it grows
            holder = function.__globals__
            for name in _names(function.__code__):
                if (id(holder), name) not in found:
                    value = holder.get(name, EMPTY)
                    found[id(holder), name] = (holder, name, value)
                    core = value.nnx_function() if isinstance(value, WrapsFunction) else value
                    if isinstance(core, types.FunctionType) and core.__globals__ is holder:
                        functions.append(core)
        return list(found.values())

    def _look_at(self, value: Any) -> None:
        if id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, GraphNode | Variable):
            self.objects.append(value)
            return
        for part in self._parts(value):
            if type(part) not in _NOTHING:
                self._holders.setdefault(id(part), []).append(value)
                self._look_at(part)

    def _parts(self, value: Any) -> list[Any]:
        if isinstance(value, types.FunctionType):
            cells = value.__closure__ or ()
            contents = [_content(cell) for cell in cells]
            self._watched.extend(zip(cells, contents, strict=True))
            return [*contents, *self._watch(value)]
        if isinstance(value, functools.partial):
            return [value.func, *value.args, *self._watch(value.keywords)]
        if isinstance(value, types.MethodType):
            return [value.__self__, value.__func__]
        if isinstance(value, type):
            return []
        if isinstance(value, WrapsFunction):
            return [value.nnx_function()]
        if type(value) is tuple or isinstance(value, list | dict):
            return list(value) if type(value) is tuple else self._watch(value)
        if kind_of(value) == CONTAINER:  # a named tuple, a dataclass that jax knows, a State
            self._watch(value)
            return [child for _, child in one_level(value)[0]]
        return []

    def _watch(self, value: Any) -> list[Any]:
        """Return what a function or container holds, and look whether it still does later."""
        held = _held(value)
        if held or not isinstance(value, types.FunctionType):
            self._watched.append((value, held))
        return held

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


# Values of these types lead nowhere.
_NOTHING: frozenset[type] = frozenset({int, float, bool, str, complex, bytes, type(None), type})
# Functions and containers that are watched, objects, and what does not change once it is made.
_WATCHED = (
    GraphNode, Variable, jax.Array, list, tuple, dict, frozenset, functools.partial, type,
    types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.ModuleType,
    types.NoneType, int, float, complex, str, bytes,
)  # fmt: skip
# The packages whose own classes do not change either: transformed functions, dtypes, filters; the
# values of context variables are looked at elsewhere.
_FIXED = frozenset({"jax", "jaxlib", "typed_nnx", "typing", "_contextvars"})
#: Stands for what there is not.
EMPTY: Any = object()


def _is_watched(value: Any) -> bool:
    """Whether a value cannot change, or `Captures` looks whether it did, or it is an object."""
    kind = type(value)
    return (
        isinstance(value, _WATCHED) or value is EMPTY or kind.__module__.partition(".")[0] in _FIXED
    )


def _names(code: types.CodeType) -> set[str]:
    """Return the names of globals in a function and those inside it; names of attributes are among them."""
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing was assigned yet
        return EMPTY


def _held(holder: Any) -> list[Any]:
    """Return the defaults of a function, or what is in a container."""
    if isinstance(holder, types.FunctionType):
        return [*(holder.__defaults__ or ()), *(holder.__kwdefaults__ or {}).values()]
    if isinstance(holder, list | dict):
        return list(holder.values() if isinstance(holder, dict) else holder)
    return jax.tree.leaves(holder, is_leaf=_is_object)


def _is_object(value: Any) -> bool:
    return isinstance(value, GraphNode | Variable)


def _identical(left: Sequence[Any], right: Sequence[Any]) -> bool:
    return len(left) == len(right) and all(map(operator.is_, left, right))


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
