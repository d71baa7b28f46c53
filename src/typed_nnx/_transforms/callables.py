"""What is known about a callable: its core, its name, its place."""

from __future__ import annotations

import functools
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


def describe(function: Any) -> str:
    """Return the name of a callable and where it is defined."""
    core = unwrapped_function(function)
    name = getattr(core, "__qualname__", type(function).__name__)
    code = getattr(core, "__code__", None)
    place = "" if code is None else f" at {code.co_filename}:{code.co_firstlineno}"
    return f"{name}{place}"
