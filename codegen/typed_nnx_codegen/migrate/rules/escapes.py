"""Which objects of a file go to code that is not in it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.analysis.values import (
    Collection,
    External,
    Instance,
    Method,
    OneOf,
    ProjectClass,
    ProjectFunction,
    Value,
    Wrapped,
    options_of,
)
from typed_nnx_codegen.migrate.file import File

# They do nothing with an Optimizer that depends on its class.
_PACKAGES = ("builtins.", "copy.", "functools.", "jax.", "nnx.")


class Escapes:
    """Finds what is passed to functions and classes that the file does not have.

    Args:
        file: The file.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        self._classes = {
            node for node in descendants(file.analysis.tree) if isinstance(node, cst.ClassDef)
        }

    def leaves_file(self, origin: cst.Call) -> bool:
        """Whether the object that a call made is surely or maybe passed to other code."""
        return any(
            not self._is_here(self._file.value(node.func))
            for node in self._file.analysis.values
            if isinstance(node, cst.Call)
            and any(origin in _origins(self._file.value(arg.value)) for arg in node.args)
        )

    def _is_here(self, callee: Value) -> bool:
        match callee:
            case OneOf():
                return all(self._is_here(option) for option in callee.options)
            case Wrapped():
                return self._is_here(callee.function)
            case ProjectFunction():
                return callee.node in self._file.analysis.scopes
            case ProjectClass():
                return callee.node in self._classes
            case Method():
                return callee.function is None or self._is_here(callee.function)
            case Instance(cls=ProjectClass() as cls):
                return self._is_here(cls)
            case External():
                return callee.public.startswith(_PACKAGES)
            case _:
                return False


def _origins(value: Value) -> Iterator[cst.Call]:
    for option in options_of(value):
        if isinstance(option, Instance) and option.origin is not None:
            yield option.origin
        elif isinstance(option, Collection) and option.items is not None:
            for item in option.items:
                yield from _origins(item)
