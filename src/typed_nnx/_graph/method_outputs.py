"""Recording what the methods of Modules return, for `capture`."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from typed_nnx._core.module import Module, iter_modules

# The outputs by the id of the Module and the name of the method, in the order of the calls.
Outputs: TypeAlias = dict[tuple[int, str], tuple[Any, ...]]

_outputs: contextvars.ContextVar[Outputs | None] = contextvars.ContextVar("outputs", default=None)


@contextlib.contextmanager
def recording(module: Module) -> Iterator[Outputs]:
    """Record the outputs of the methods of a Module and those below it.

    The Modules get a subclass of their class for that time, so that calls from one method to
    another are seen.
    """
    found: Outputs = {}
    changed = [inner for _, inner in iter_modules(module)]
    classes = [type(inner) for inner in changed]
    token = _outputs.set(found)
    try:
        for inner, cls in zip(changed, classes, strict=True):
            inner.__class__ = _recording_class(cls)
        yield found
    finally:
        _outputs.reset(token)
        for inner, cls in zip(changed, classes, strict=True):
            inner.__class__ = cls


def _make_recording_class(cls: type[Module]) -> type[Module]:
    inherited = {name for base in Module.__mro__ for name in vars(base)}
    methods = {
        name: _recorded(name, function)
        for name, function in inspect.getmembers(cls, inspect.isfunction)
        if name not in inherited and (name == "__call__" or not name.startswith("_"))
    }
    metaclass: Any = type(cls)
    made: type[Module] = metaclass(cls.__name__, (cls,), {"__module__": cls.__module__, **methods})
    return made


# With this type mypy does not ask whether the *instances* of the class have a hash.
_recording_class: Callable[[type], type[Module]] = functools.lru_cache(maxsize=256)(
    _make_recording_class
)


def _recorded(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def recorded(self: Module, *args: Any, **kwargs: Any) -> Any:
        output = method(self, *args, **kwargs)
        outputs = _outputs.get()
        if outputs is not None:
            key = (id(self), name)
            outputs[key] = (*outputs.get(key, ()), output)
        return output

    return recorded
