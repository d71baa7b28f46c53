"""What can be called under a public name, and whether two signatures take the same calls."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

Parameter = tuple[str, str, str]
"""Name, kind and default."""

Signature = tuple[Parameter, ...]

ANYTHING = ("VAR_POSITIONAL", "VAR_KEYWORD")


def differences(name: str, ours: Any, theirs: Any) -> Iterator[tuple[str, str]]:
    """Yield the dotted name and a description of each thing that flax has and we have otherwise.

    A class is compared by its constructor and its public methods, and by the names of its other
    public attributes.
    """
    for dotted, function in callables_of(name, theirs):
        mine = dict(callables_of(name, ours)).get(dotted)
        if mine is None:
            yield dotted, "is missing"
        elif not same_calls(signature_of(mine), signature_of(function)):
            yield dotted, f"takes\n{_shown(mine)}\nbut flax's takes\n{_shown(function)}"
    if isinstance(theirs, type):
        for attribute in sorted(_plain_attributes(theirs) - set(dir(ours))):
            yield f"{name}.{attribute}", "is missing"


def callables_of(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what can be called under a public name: it, or its constructor and public methods."""
    if not isinstance(value, type):
        if callable(value):
            yield name, value
        return
    constructor = _constructor_of(value)
    if constructor is not None:
        yield f"{name}.__init__", _without_first(constructor)
    for method in sorted(_names_in_instances(value)):
        if method.startswith("_") and method != "__call__":
            continue
        found = inspect.getattr_static(value, method)
        if isinstance(found, staticmethod):
            yield f"{name}.{method}", found.__func__
        elif isinstance(found, classmethod):
            yield f"{name}.{method}", _without_first(found.__func__)
        elif inspect.isfunction(found):
            yield f"{name}.{method}", _without_first(found)


def _constructor_of(cls: type) -> Any:
    """Return the method that has the constructor's parameters; None where it takes what `object` takes."""
    for method in ("__init__", "__new__"):
        found = inspect.getattr_static(cls, method)
        found = found.__func__ if isinstance(found, staticmethod) else found
        if inspect.isfunction(found):
            return found
    return None


def _names_in_instances(cls: type) -> set[str]:
    """Return the names that instances have; ``dir`` of a class would add those of its metaclass."""
    return {name for base in cls.__mro__ for name in vars(base)}


def _plain_attributes(cls: type) -> set[str]:
    public = {name for name in _names_in_instances(cls) if not name.startswith("_")}
    return {name for name in public if not inspect.isfunction(inspect.getattr_static(cls, name))}


class _without_first:  # noqa: N801  # stands for the method without its `self`
    """A method whose first parameter is taken: its name (``self``, ``key``, ...) says nothing."""

    def __init__(self, method: Any) -> None:
        self.method = method


def signature_of(function: Any) -> Signature | None:
    """Return the parameters of a function; None where Python cannot tell them."""
    taken = 0
    if isinstance(function, _without_first):
        taken, function = 1, function.method
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if parameters and parameters[0].kind.name in ANYTHING:
        taken = 0
    return tuple((p.name, p.kind.name, default_of(p.default)) for p in parameters[taken:])


def same_calls(ours: Signature | None, theirs: Signature | None) -> bool:
    """Whether two signatures are equal, or flax's says nothing and takes any call."""
    if theirs is not None and theirs and all(kind in ANYTHING for _, kind, _ in theirs):
        return True
    return ours == theirs


def default_of(value: Any) -> str:
    """Return the text of a default value, which the same value has in both libraries."""
    if value is inspect.Parameter.empty:
        return "required"
    if re.search("missing|unset", type(value).__name__.lower()):
        return "MISSING"
    if isinstance(value, Mapping):
        return f"mapping {dict(value)}"
    if isinstance(value, functools.partial):
        return f"partial of {default_of(value.func)}"
    if isinstance(value, type) or inspect.isroutine(value) or hasattr(value, "__wrapped__"):
        return str(getattr(value, "__qualname__", value))
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _shown(function: Any) -> str:
    found = signature_of(function)
    if found is None:
        return "    what Python cannot tell"
    return "    " + ", ".join(f"{name}:{kind}={default}" for name, kind, default in found)
