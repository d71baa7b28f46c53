"""Which objects of a file go to code that is not in it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

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

    def leaves_file(self, origin: cst.Call) -> bool:
        """Whether the object that a call made goes, or may go, where the analysis loses it."""
        return any(
            not self._keeps(self._file.value(node.func), origin)
            for node in self._file.analysis.known.of(cst.Call)
            if any(origin in _origins(self._file.value(arg.value)) for arg in node.args)
        )

    def _keeps(self, callee: Value, origin: cst.Call) -> bool:
        """Whether all that happens to an object in a call is in the file, and known."""
        match callee:
            case OneOf():
                return all(self._keeps(option, origin) for option in callee.options)
            case Wrapped():
                return self._keeps(callee.function, origin)
            case ProjectFunction():
                # A parameter that gets several objects stands for none of them.
                scope = self._file.analysis.scopes.get(callee.node)
                seen = scope.seen.values() if scope is not None else ()
                return any(origin in _origins(value) for value in seen)
            case ProjectClass():
                constructor = callee.methods.get("__init__")
                return constructor is not None and self._keeps(constructor, origin)
            case Method():
                return callee.function is None or self._keeps(callee.function, origin)
            case Instance(cls=ProjectClass() as cls):
                method = cls.methods.get("__call__")
                return method is not None and self._keeps(method, origin)
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
