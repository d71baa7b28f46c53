"""Classes whose methods report to a recorder while it is listening."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, Protocol

from typed_nnx._core.nodes import GraphNode
from typed_nnx._core.pytree import Pytree


class Recorder(Protocol):
    """Hears of the calls of methods."""

    def call(self, name: str, node: Any, method: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Call a bound method of an object and return what it returns."""
        ...


_listening: ContextVar[Recorder | None] = ContextVar("typed_nnx_recorder", default=None)

# Classes are changed for all threads: one summary at a time, which may contain others.
_lock = threading.RLock()


@contextlib.contextmanager
def instrumented(classes: Iterable[type], recorder: Recorder) -> Iterator[None]:
    """Let the public methods of classes report to a recorder, in this thread and for a block.

    Other threads may use the classes meanwhile; their calls go straight to the methods.

    Args:
        classes: The classes, whose objects report; those of their subclasses do not.
        recorder: Hears of each call.
    """
    with _lock:
        originals = [
            (cls, name, method) for cls in set(classes) for name, method in public_methods(cls)
        ]
        own = [(cls, name) for cls, name, _ in originals if name in vars(cls)]
        token = _listening.set(recorder)
        try:
            for cls, name, method in originals:
                setattr(cls, name, _reporting(cls, name, method))
            yield
        finally:
            _listening.reset(token)
            for cls, name, method in originals:
                if (cls, name) in own:
                    setattr(cls, name, method)
                elif name in vars(cls):
                    delattr(cls, name)


def public_methods(cls: type) -> list[tuple[str, Any]]:
    """Return the methods of a class that a model is called by: its own, those of Modules, no more."""
    # What every Pytree has is our machinery.
    names = [n for n in dir(cls) if n == "__call__" or (not n.startswith("_") and n not in _OURS)]
    found = [(name, in_class(cls, name)) for name in names]
    return [(name, method) for name, method in found if _is_method(method)]


def in_class(cls: type, name: str) -> Any:
    """Return what a class or a base of it has under a name, as it stands there; None if nothing."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


_OURS = frozenset(dir(Pytree))


def _is_method(found: Any) -> bool:
    if isinstance(found, staticmethod | classmethod | type) or hasattr(type(found), "__set__"):
        return False
    return callable(found) and hasattr(type(found), "__get__")


def _reporting(cls: type, name: str, method: Any) -> Any:
    @functools.wraps(method)
    def report(self: Any, *args: Any, **kwargs: Any) -> Any:
        bound = method.__get__(self, type(self))
        recorder = _listening.get()
        if recorder is None or type(self) is not cls or not isinstance(self, GraphNode):
            return bound(*args, **kwargs)
        return recorder.call(name, self, bound, args, kwargs)

    return report
