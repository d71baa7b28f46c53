"""`lazy_init`: Variables that come into being when a Module is called for the first time."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from typed_nnx._core.module import Module
from typed_nnx._core.walk import iter_graph
from typed_nnx.errors import LazyInitError

F = TypeVar("F", bound=Module | Callable[..., Any])

# The attribute is part of the structure: a function that is jitted around a Module is traced again
# for a Module that is initialising.
INITIALIZING = "to_nnx__initializing"


def lazy_init(fn: F, *args: Any, **kwargs: Any) -> F:
    """Initialise the Linen modules in a Module by a call.

    Args:
        fn: A Module, or a bound method of one: every `ToNNX` in that Module is initialised when
            the call reaches it.
        *args: The arguments of the call.
        **kwargs: Its keyword arguments.

    Returns:
        What was given as `fn`.

    Raises:
        LazyInitError: `fn` is neither a Module nor a bound method of one.
    """
    call: Any = fn
    method: Any = call.func if isinstance(call, functools.partial) else call
    module = method if isinstance(method, Module) else getattr(method, "__self__", None)
    if not isinstance(module, Module) or not callable(call):
        raise LazyInitError(_described(fn))
    with _initializing(module):
        call(*args, **kwargs)
    return fn


def _described(fn: object) -> str:
    name = getattr(fn, "__qualname__", None)
    return f"the function {name}" if name else f"{fn!r} ({type(fn).__name__})"


@contextmanager
def _initializing(module: Module) -> Iterator[None]:
    for node in _waiting(module):
        setattr(node, INITIALIZING, True)
    try:
        yield
    finally:
        # Walked again: a transform inside may have put new objects in place.
        for node in _waiting(module):
            if INITIALIZING in vars(node):
                delattr(node, INITIALIZING)


def _waiting(module: Module) -> list[Any]:
    return [node for _, node in iter_graph(module) if getattr(type(node), "_nnx_is_lazy", False)]
