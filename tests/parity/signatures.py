"""The public names of a module with their signatures, in a form that two libraries can be compared by."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

Signature = tuple[tuple[str, str, str], ...]
"""Name, kind and default of each parameter."""


def public_names(module: Any) -> dict[str, Any]:
    """Return what a module offers: no private names, no modules, no type variables."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType | TypeVar)
    }


def public_modules(module: Any) -> list[str]:
    """Return the names of the modules that a module offers."""
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, types.ModuleType) and not name.startswith("_")
    ]


def callables_of(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what can be called under a public name: it, or its constructor and public methods."""
    if not isinstance(value, type):
        if callable(value):
            yield name, value
        return
    if value.__init__ is not object.__init__:  # type: ignore[misc]  # asks for the function only
        yield f"{name}.__init__", value.__init__  # type: ignore[misc]  # as above
    for method in dir(value):
        if method.startswith("_") and method != "__call__":
            continue
        if method == "__call__" and "__call__" not in dir_of_instances(value):
            continue
        found = inspect.getattr_static(value, method)
        if isinstance(found, classmethod | staticmethod):
            found = found.__func__
        if inspect.isfunction(found):
            yield f"{name}.{method}", found


def dir_of_instances(cls: type) -> set[str]:
    """Return the names that instances have; ``dir`` of a class would add those of its metaclass."""
    return {name for base in cls.__mro__ for name in vars(base)}


def signature_of(function: Any) -> Signature | None:
    """Return the parameters of a function; None where Python cannot tell them."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None
    return tuple((p.name, p.kind.name, default_of(p.default)) for p in parameters.values())


def default_of(value: Any) -> str:
    """Return the text of a default value, which the same value has in both libraries."""
    if value is inspect.Parameter.empty:
        return "required"
    if "missing" in type(value).__name__.lower() or "unset" in type(value).__name__.lower():
        return "MISSING"
    if isinstance(value, Mapping):
        return f"mapping {dict(value)}"
    if isinstance(value, type) or inspect.isroutine(value) or hasattr(value, "__wrapped__"):
        return str(getattr(value, "__qualname__", value))
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
