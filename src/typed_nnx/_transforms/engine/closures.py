"""Objects that a function closes over: found outside a transform, exchanged inside.

Looked through are free variables, default arguments, the arguments of `functools.partial`, the
``self`` of bound methods, callable Modules, lists, tuples and dicts of Modules, and functions
inside all of these. Globals are not looked at.
"""

from __future__ import annotations

import copy
import functools
import inspect
import operator
import types
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import jax

from typed_nnx._core.nodes import CONTAINER, GraphNode, kind_of, one_level
from typed_nnx._core.settings import MISSING
from typed_nnx._core.variable import Variable
from typed_nnx._transforms.engine.prefixes import Function, Node, Tree, Value


@runtime_checkable
class WrapsFunction(Protocol):
    """A transformed function: it can be had with another function inside."""

    def nnx_function(self) -> Tree:
        """Return the function inside."""
        ...

    def nnx_with_function(self, function: Function) -> Tree:
        """Return a copy with another function inside."""
        ...


class Captures:
    """What a function closes over.

    Attributes:
        objects: The Modules and Variables, each once.
        carriers: The ids of the functions and containers through which they are reached.
        is_nothing: The function can never close over anything.
        view: What `trace_cache` knows about the function; MISSING before it is asked for.
    """

    __slots__ = ("_holders", "_seen", "_watched", "carriers", "is_nothing", "objects", "view")

    def __init__(self, function: Function) -> None:
        self.objects: list[Tree] = []
        self.view: Any = MISSING
        self._seen: dict[int, Node] = {}
        self._holders: dict[int, list[Tree]] = {}
        # Cells and what was in them; functions with their defaults, and containers with their entries.
        self._watched: list[tuple[Tree, Tree]] = []
        self._look_at(function)
        self.carriers: set[int] = self._carriers()
        self.is_nothing: bool = not self._watched and not self.objects

    def is_current(self) -> bool:
        """Whether the function still closes over the same things."""
        for holder, content in self._watched:
            if type(holder) is types.CellType:
                if content_of(holder) is not content:
                    return False
            elif not identical(held(holder), content):
                return False
        return True

    def _look_at(self, value: Tree) -> None:
        if id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, GraphNode | Variable):
            self.objects.append(value)
            return
        self._watch(value)
        for part in parts_of(value):
            if type(part) not in _NOTHING:
                self._holders.setdefault(id(part), []).append(value)
                self._look_at(part)

    def _watch(self, value: Tree) -> None:
        """Note what has to be looked at to see whether a function or container leads elsewhere."""
        if isinstance(value, types.FunctionType):
            self._watched.extend([(cell, content_of(cell)) for cell in value.__closure__ or ()])
        elif isinstance(value, functools.partial):
            value = value.keywords
        elif type(value) is tuple or not (isinstance(value, list | dict) or _is_container(value)):
            return
        content = held(value)
        if content or not isinstance(value, types.FunctionType):
            self._watched.append((value, content))

    def _carriers(self) -> set[int]:
        found: set[int] = set()
        todo = list(self.objects)
        while todo:
            for holder in self._holders.get(id(todo.pop()), ()):
                if id(holder) not in found:
                    found.add(id(holder))
                    todo.append(holder)
        return found

    def exchanged(self, function: Function, others: Sequence[Tree]) -> Tree:
        """Return the function closing over other objects in place of `objects`."""
        if not self.objects:
            return function
        exchange = _Exchange(self.carriers, self.objects, others)
        return exchange(function)


# Values of these types lead nowhere.
_NOTHING: frozenset[type] = frozenset({int, float, bool, str, complex, bytes, type(None), type})


def content_of(cell: types.CellType) -> Tree:
    """Return what is in a cell; MISSING before the first assignment."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def parts_of(value: Tree) -> list[Value]:
    """Return what a callable or a container leads to; nothing for other values."""
    if isinstance(value, types.FunctionType):
        return [*map(content_of, value.__closure__ or ()), *held(value)]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, types.MethodType):
        return [value.__self__, value.__func__]
    if type(value) is tuple or isinstance(value, list | dict):
        return held(value)
    if isinstance(value, WrapsFunction) and not isinstance(value, type):
        return [value.nnx_function()]
    return [child for _, child in one_level(value)[0]] if _is_container(value) else []


def _is_container(value: Tree) -> bool:
    """Whether it is a named tuple, a dataclass that jax knows, a State."""
    return not isinstance(value, type | WrapsFunction) and kind_of(value) == CONTAINER


def held(holder: Tree) -> list[Value]:
    """Return the defaults of a function, or what is in a container."""
    if isinstance(holder, types.FunctionType):
        return [*(holder.__defaults__ or ()), *(holder.__kwdefaults__ or {}).values()]
    if type(holder) is tuple or isinstance(holder, list | dict):
        return list(holder.values() if isinstance(holder, dict) else holder)
    return jax.tree.leaves(holder, is_leaf=_is_object)


def _is_object(value: Tree) -> bool:
    return isinstance(value, GraphNode | Variable)


def identical(left: Sequence[Tree], right: Sequence[Tree]) -> bool:
    """Whether two sequences hold the same objects."""
    return len(left) == len(right) and all(map(operator.is_, left, right))


class _Exchange:
    """Makes copies of functions and containers in which objects are exchanged for others."""

    __slots__ = ("_carriers", "_made")

    def __init__(self, carriers: set[int], objects: Sequence[Tree], others: Sequence[Tree]) -> None:
        self._carriers = carriers
        self._made: dict[int, Node] = dict(zip(map(id, objects), others, strict=True))

    def __call__(self, value: Tree) -> Tree:
        """Return a value with the objects in it exchanged; the value itself if it has none."""
        if id(value) in self._made:
            return self._made[id(value)]
        if id(value) not in self._carriers:
            return value
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if type(value) is list or isinstance(value, dict):
            # Known before it is filled: it may hold itself.
            filled = self._made[id(value)] = copy.copy(value)
            for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
                filled[key] = self(entry)
            return filled
        made = self._made[id(value)] = self._copy(value)
        return made

    def _copy(self, value: Tree) -> Tree:
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
            types.CellType() if self._concerns(content_of(cell)) else cell
            for cell in function.__closure__ or ()
        ]
        made = types.FunctionType(
            function.__code__, function.__globals__, function.__name__, None, tuple(cells) or None
        )
        # Known before its parts are looked at: a recursive function is in its own closure.
        self._made[id(function)] = made
        for old, new in zip(function.__closure__ or (), cells, strict=True):
            if old is not new:
                new.cell_contents = self(content_of(old))
        if function.__defaults__:
            made.__defaults__ = tuple(map(self, function.__defaults__))
        if function.__kwdefaults__:
            made.__kwdefaults__ = {k: self(v) for k, v in function.__kwdefaults__.items()}
        made.__dict__.update(function.__dict__)
        for name in functools.WRAPPER_ASSIGNMENTS:
            setattr(made, name, getattr(function, name))
        return made

    def _concerns(self, content: Tree) -> bool:
        return id(content) in self._made or id(content) in self._carriers


def unwrapped_function(function: Function) -> Tree:
    """Return the Python function at the core of a callable."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif isinstance(function, WrapsFunction) and not isinstance(function, type):
            function = function.nnx_function()
        elif isinstance(function, GraphNode):
            function = type(function).__call__  # a callable Module
        elif isinstance(function, tuple) and function:
            function = function[0]  # a function and its rules
        else:
            return function


def name_of(function: Function) -> str:
    """Return the name of a callable."""
    return str(getattr(unwrapped_function(function), "__name__", type(function).__name__))


def code_of(function: Function) -> types.CodeType | None:
    """Return the code that a callable runs, if it is Python: that of the constructor for a class."""
    core = unwrapped_function(function)
    if isinstance(core, type):
        core = unwrapped_function(getattr(core, "__init__", None))
    code = getattr(core, "__code__", None)
    return code if isinstance(code, types.CodeType) else None


def describe(function: Function) -> str:
    """Return the name of a callable and where it is defined."""
    core = unwrapped_function(function)
    name = getattr(core, "__qualname__", type(function).__name__)
    code = code_of(core)
    place = "" if code is None else f" at {code.co_filename}:{code.co_firstlineno}"
    return f"{name}{place}"


def parameters_of(function: Function) -> list[inspect.Parameter]:
    """Return the parameters of a callable; none if Python cannot tell."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Parameters:
    """The names of the positional parameters of a callable, by position.

    A position that has no name is itself; one of ``*args`` is ``args[0]``.

    Args:
        given: The callable; of several in a tuple the first counts.
    """

    __slots__ = ("_names", "_rest")

    def __init__(self, given: Function) -> None:
        function: Function = given[0] if isinstance(given, tuple) and given else given
        self._names: tuple[str, ...] = ()
        self._rest: str | None = None
        if type(function) is types.FunctionType and not function.__dict__:  # the quick way
            code = function.__code__
            count = code.co_argcount
            self._names = code.co_varnames[:count]
            if code.co_flags & inspect.CO_VARARGS:
                self._rest = code.co_varnames[count + code.co_kwonlyargcount]
            return
        parameters = parameters_of(function)
        self._names = tuple([p.name for p in parameters if p.kind in BY_POSITION])
        self._rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)

    def __getitem__(self, number: int) -> int | str:
        """Return the name of an argument, given its position."""
        beyond = number - len(self._names)
        if beyond < 0:
            return self._names[number]
        return number if self._rest is None else f"{self._rest}[{beyond}]"

    def describe(self, number: int) -> str:
        """Return a position, and the name that belongs to it: ``2 ('train')``."""
        name = self[number]
        return f"{number} ({name!r})" if isinstance(name, str) else str(number)
