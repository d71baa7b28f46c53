"""`Sequential`: callables applied one after the other."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, overload

from typed_nnx._core.list_module import List
from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs


class Sequential(Module):
    """Applies callables in order; a tuple or dict that one returns becomes the next one's arguments.

    It is a sequence too: ``len``, iteration, indexing and item assignment reach the callables.

    Args:
        *fns: Modules and functions.
    """

    layers: List[Callable[..., Any]]

    def __init__(self, *fns: Callable[..., Any]) -> None:
        self.layers = List(fns)

    def __call__(self, *args: Any, rngs: Rngs | None = None, **kwargs: Any) -> Any:
        """Apply the callables.

        Args:
            *args: For the first one.
            rngs: For each one that has a parameter ``rngs``.
            **kwargs: For the first one.

        Raises:
            ValueError: There are no callables.
            TypeError: An element is not callable.
        """
        output: Any = _arguments(args, kwargs)  # what an empty one returns
        for index, function in enumerate(self.layers):
            if not callable(function):
                raise TypeError(
                    f"Sequential: element {index} is a {type(function).__name__}, which is not "
                    "callable.\n  Fix: pass Modules and functions"
                )
            if index > 0:
                args, kwargs = _as_arguments(output)
            if rngs is not None and _takes_rngs(function):
                kwargs = {**kwargs, "rngs": rngs}
            output = function(*args, **kwargs)
        return output

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[Callable[..., Any]]:
        return iter(self.layers)

    @overload
    def __getitem__(self, index: int) -> Callable[..., Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    def __getitem__(self, index: int | slice) -> Callable[..., Any]:
        if isinstance(index, slice):
            return Sequential(*self.layers[index])
        return self.layers[index]

    def __setitem__(self, index: int, function: Callable[..., Any]) -> None:
        self.layers[index] = function

    def __bool__(self) -> bool:
        return True


def _arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what a function was called with: one argument, all of them, or the keywords."""
    return args[0] if len(args) == 1 else args or kwargs or None


def _as_arguments(output: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(output, tuple):
        return output, {}
    if isinstance(output, dict):
        return (), output
    return (output,), {}


def _takes_rngs(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a built-in without a signature
        return False
    return any(p.name == "rngs" or p.kind is p.VAR_KEYWORD for p in parameters.values())
