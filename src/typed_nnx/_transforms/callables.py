"""What is known about a callable: its core, its name, its place, its parameters."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

from typed_nnx._core.nodes import GraphNode
from typed_nnx._transforms.captures import WrapsFunction


def unwrapped_function(function: Any) -> Any:
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


def name_of(function: Any) -> str:
    """Return the name of a callable."""
    return str(getattr(unwrapped_function(function), "__name__", type(function).__name__))


def code_of(function: Any) -> types.CodeType | None:
    """Return the code that a callable runs, if it is Python: that of the constructor for a class."""
    core = unwrapped_function(function)
    if isinstance(core, type):
        core = unwrapped_function(getattr(core, "__init__", None))
    code = getattr(core, "__code__", None)
    return code if isinstance(code, types.CodeType) else None


def describe(function: Any) -> str:
    """Return the name of a callable and where it is defined."""
    core = unwrapped_function(function)
    name = getattr(core, "__qualname__", type(function).__name__)
    code = code_of(core)
    place = "" if code is None else f" at {code.co_filename}:{code.co_firstlineno}"
    return f"{name}{place}"


class Parameters:
    """The names of the positional parameters of a callable, by position.

    A position that has no name is itself; one of ``*args`` is ``args[0]``.

    Args:
        given: The callable; of several in a tuple the first counts.
    """

    __slots__ = ("_names", "_rest")

    def __init__(self, given: Any) -> None:
        function: Any = given[0] if isinstance(given, tuple) and given else given
        self._names: tuple[str, ...] = ()
        self._rest: str | None = None
        if type(function) is types.FunctionType and not function.__dict__:  # the quick way
            code = function.__code__
            count = code.co_argcount
            self._names = code.co_varnames[:count]
            if code.co_flags & inspect.CO_VARARGS:
                self._rest = code.co_varnames[count + code.co_kwonlyargcount]
            return
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):  # Python cannot tell
            return
        self._names = tuple([p.name for p in parameters if p.kind in _POSITIONAL])
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


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
