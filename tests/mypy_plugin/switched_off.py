"""Runs mypy with each check and inference silent in the file that is named after it.

``off_axes.py`` is checked without ``checks/axes.py``, and so on: one run shows of every part
whether its case file notices that it is missing. mypy sees the plugin that it always sees, so that
it takes what it knows of libraries from the cache.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

from mypy.__main__ import console_entry
from mypy.checker import TypeChecker
from mypy.plugin import ClassDefContext, FunctionSigContext
from mypy.plugins.dataclasses import dataclass_class_maker_callback
from mypy.types import FunctionLike

from typed_nnx_mypy import registry
from typed_nnx_mypy.inference import dataclasses

_CASE_FILES = {"dataclasses": "nnx_dataclass"}  # mypy would take it for the standard module


def case_file_of(part: str) -> str:
    """Return the name of the case file of a module of the plugin."""
    name = part.rpartition(".")[2]
    return _CASE_FILES.get(name, name)


def parts() -> list[str]:
    """Return the modules of the plugin that have a check or an inference."""
    found = {function.__module__ for functions in _registered() for function in functions}
    return sorted({*found, dataclasses.__name__})


def is_off(part: str, module: str) -> bool:
    """Tell whether a module of the plugin is silent in a checked module."""
    return module == f"off_{case_file_of(part)}"


def silenced(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a check or an inference that finds nothing in the file named after its module."""

    @functools.wraps(function)
    def wrapper(seen: Any) -> Any:
        if is_off(function.__module__, seen.checker.tree.fullname):
            return None
        return function(seen)

    return wrapper


def silence_registered() -> None:
    """Silence all checks and inferences, each in its own file."""
    for functions in _registered():
        functions[:] = map(silenced, functions)


def _registered() -> Iterator[list[Any]]:
    """Yield the lists of checks and inferences."""
    yield from registry.CALL_CHECKS.values()
    yield from registry.CALL_INFERENCES.values()
    yield registry.ACCESS_INFERENCES
    yield registry.ATTRIBUTE_CHECKS


def silence_dataclasses() -> None:
    """Leave the dataclasses of one file to mypy: no check, so the plugin calls them by name."""
    hooks = importlib.import_module("typed_nnx_mypy.hooks")
    make, signature = dataclasses.make_dataclass, dataclasses.field_signature

    def made(context: ClassDefContext) -> bool:
        is_silent = is_off(make.__module__, context.cls.info.module_name)
        return dataclass_class_maker_callback(context) if is_silent else make(context)

    def signed(context: FunctionSigContext) -> FunctionLike:
        assert isinstance(context.api, TypeChecker)
        is_silent = is_off(signature.__module__, context.api.tree.fullname)
        return context.default_signature if is_silent else signature(context)

    vars(hooks).update(make_dataclass=made, field_signature=signed)


if __name__ == "__main__":
    silence_registered()
    silence_dataclasses()
    console_entry()
