"""What can be called under a public name, and whether two signatures take the same calls."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Parameter(NamedTuple):
    """One parameter; the name of a positional-only one is no part of a call and left out."""

    name: str
    kind: str
    default: str


ANYTHING = ("VAR_POSITIONAL", "VAR_KEYWORD")

# The text of a default that is a function without a name of its own.
NAMELESS = "<a function>"


def differences(name: str, ours: Any, theirs: Any) -> Iterator[tuple[str, str]]:
    """Yield the dotted name and a description of each thing that flax has and we have otherwise.

    A class is compared by its constructor and its public methods, and by the names of its other
    public attributes.
    """
    mine = dict(callables_of(name, ours))
    for dotted, function in callables_of(name, theirs):
        if dotted not in mine:
            yield dotted, "is missing"
        elif not same_calls(parameters_of(mine[dotted]), parameters_of(function)):
            yield dotted, f"takes\n{_shown(mine[dotted])}\n  and in flax\n{_shown(function)}"
    if isinstance(theirs, type):
        there = names_in_instances(ours) if isinstance(ours, type) else set(dir(ours))
        for attribute in sorted(_plain_attributes(theirs) - there):
            yield f"{name}.{attribute}", "is missing"


class Method(NamedTuple):
    """A method whose first parameter is taken: its name (``self``, ``key``, ...) says nothing."""

    function: Any


def callables_of(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what can be called under a public name: it, or its constructor and public methods."""
    if not isinstance(value, type):
        if callable(value) and type(value).__module__ != "typing":
            yield name, value
        return
    constructor = _constructor_of(value)
    if constructor is not None:
        yield f"{name}.__init__", Method(constructor)
    for method in sorted(names_in_instances(value)):
        if method.startswith("_") and method != "__call__":
            continue
        found = inspect.getattr_static(value, method)
        if isinstance(found, staticmethod):
            yield f"{name}.{method}", found.__func__
        elif isinstance(found, classmethod):
            yield f"{name}.{method}", Method(found.__func__)
        elif inspect.isfunction(found):
            yield f"{name}.{method}", Method(found)


def _constructor_of(cls: type) -> Any:
    """Return the method that has the constructor's parameters; None if that is `object`'s."""
    for method in ("__init__", "__new__"):
        found = inspect.getattr_static(cls, method)
        found = found.__func__ if isinstance(found, staticmethod) else found
        if inspect.isfunction(found):
            return found
    return None


def names_in_instances(cls: type) -> set[str]:
    """Return the names that instances have; ``dir`` of a class would add those of its metaclass."""
    return {name for base in cls.__mro__ for name in vars(base)}


def _plain_attributes(cls: type) -> set[str]:
    public = {name for name in names_in_instances(cls) if not name.startswith("_")}
    return public - {dotted.rsplit(".", 1)[1] for dotted, _ in callables_of(".", cls)}


def parameters_of(function: Any) -> tuple[Parameter, ...] | None:
    """Return the parameters of a function, those by name sorted; None where Python has none."""
    try:
        called = function.function if isinstance(function, Method) else function
        found = list(inspect.signature(called).parameters.values())
    except (TypeError, ValueError):
        return None
    if isinstance(function, Method) and found and found[0].kind.name not in ANYTHING:
        found = found[1:]
    by_place = [one for one in found if one.kind is not one.KEYWORD_ONLY]
    by_name = sorted((one for one in found if one.kind is one.KEYWORD_ONLY), key=lambda p: p.name)
    return tuple(
        Parameter(
            "" if one.kind is one.POSITIONAL_ONLY or one.kind.name in ANYTHING else one.name,
            one.kind.name,
            default_of(one.default),
        )
        for one in (*by_place, *by_name)
    )


def same_calls(ours: tuple[Parameter, ...] | None, theirs: tuple[Parameter, ...] | None) -> bool:
    """Whether two signatures take the same calls; flax's may say nothing and take any."""
    if theirs is None or ours is None:
        return theirs is ours
    if theirs and all(one.kind in ANYTHING for one in theirs):
        return True
    return len(ours) == len(theirs) and all(map(_same_parameter, ours, theirs))


def _same_parameter(ours: Parameter, theirs: Parameter) -> bool:
    if theirs.default == NAMELESS and ours.default not in ("required", "None"):
        return ours[:2] == theirs[:2]
    return ours == theirs


def default_of(value: Any) -> str:
    """Return the text of a default value, which the same value has in both libraries."""
    if value is inspect.Parameter.empty:
        return "required"
    if re.search("missing|unset", f"{type(value).__name__} {value!r}".lower()):
        return "MISSING"
    if isinstance(value, tuple):
        return f"({', '.join(map(default_of, value))})"
    if isinstance(value, Mapping):
        return f"mapping {dict(value)}"
    if isinstance(value, functools.partial):
        return f"partial of {default_of(value.func)}"
    if isinstance(value, type) or inspect.isroutine(value) or hasattr(value, "__wrapped__"):
        name = str(getattr(value, "__qualname__", value))
        return NAMELESS if "<" in name else name
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _shown(function: Any) -> str:
    found = parameters_of(function)
    if found is None:
        return "    what Python cannot tell"
    return "    " + ", ".join(f"{one.name}:{one.kind}={one.default}" for one in found)
