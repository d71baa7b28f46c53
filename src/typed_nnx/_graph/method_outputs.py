"""Recording what the methods of Modules return, for `capture`."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from typed_nnx._core.cells import graph_lock
from typed_nnx._core.module import Module, iter_modules

# The outputs by the id of the Module and the name of the method, in the order of the calls.
Outputs: TypeAlias = dict[tuple[int, str], tuple[Any, ...]]


class _Recording(NamedTuple):
    """The Modules whose outputs are recorded in this context, and what was recorded."""

    modules: frozenset[int]
    outputs: Outputs


_recording: contextvars.ContextVar[_Recording | None] = contextvars.ContextVar(
    "recording", default=None
)


class _Instrumented:
    """A class whose methods record at the moment.

    Attributes:
        count: How many recordings ask for it.
        replaced: What its own attributes were before.
    """

    __slots__ = ("count", "replaced")

    def __init__(self, cls: type) -> None:
        self.count = 0
        methods = _methods(cls)
        self.replaced = {name: vars(cls).get(name, _MISSING) for name in methods}
        for name, method in methods.items():
            setattr(cls, name, _recorded(cls, name, method))


_instrumented: dict[type, _Instrumented] = {}
_MISSING: Any = object()


@contextlib.contextmanager
def recording(module: Module) -> Iterator[Outputs]:
    """Record the outputs of the methods of a Module and those below it.

    The methods of their classes record for that time, where they are called on one of these Modules
    in this context; the Modules themselves stay as they are.
    """
    modules = [inner for _, inner in iter_modules(module)]
    classes = set(map(type, modules))
    outputs: Outputs = {}
    token = _recording.set(_Recording(frozenset(map(id, modules)), outputs))
    try:
        _instrument(classes)
        yield outputs
    finally:
        _restore(classes)
        _recording.reset(token)


def _instrument(classes: set[type]) -> None:
    with graph_lock:
        for cls in classes:
            found = _instrumented.get(cls)
            if found is None:
                found = _instrumented[cls] = _Instrumented(cls)
            found.count += 1


def _restore(classes: set[type]) -> None:
    with graph_lock:
        for cls in classes:
            found = _instrumented[cls]
            found.count -= 1
            if found.count:
                continue
            del _instrumented[cls]
            for name, before in found.replaced.items():
                if before is _MISSING:
                    delattr(cls, name)
                else:
                    setattr(cls, name, before)


def _methods(cls: type) -> dict[str, Any]:
    """Return the methods of a class, less those that every Module has."""
    inherited = {name for base in Module.__mro__ for name in vars(base)}
    return {
        name: getattr(method, "_nnx_method", method)
        for name, method in inspect.getmembers(cls, inspect.isfunction)
        if name not in inherited and (name == "__call__" or not name.startswith("_"))
    }


def _recorded(cls: type, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def recorded(self: Module, *args: Any, **kwargs: Any) -> Any:
        output = method(self, *args, **kwargs)
        found = _recording.get()
        # What a subclass calls by `super()` is a part of its own method.
        if found is not None and type(self) is cls and id(self) in found.modules:
            key = (id(self), name)
            found.outputs[key] = (*found.outputs.get(key, ()), output)
        return output

    recorded.__dict__["_nnx_method"] = method
    return recorded
