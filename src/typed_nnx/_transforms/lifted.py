"""What all transformed functions have in common: names, methods, repr, decorator forms."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from typed_nnx._transforms.callables import describe, unwrapped_function
from typed_nnx._transforms.lift import Lift
from typed_nnx._transforms.prefixes import Prefix, check_kinds

A = TypeVar("A")
P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
S = TypeVar("S")

#: Stands for "no function given": a decorator is wanted.
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "MISSING", "__slots__": ()})()


class Unseen:
    """A type that no argument has: for checkers, a function that takes it takes anything.

    mypy thinks that a function of ``*args: Any`` takes one less when its first argument is bound.
    """


class Lifted(Generic[P, R]):
    """A transformed function.

    It behaves like the function: it has its name and documentation, and as an attribute of a class
    it is a method.
    """

    #: The name of the transform.
    transform: str = "lift"

    # Those of the function.
    __name__: str
    __qualname__: str
    __wrapped__: Callable[P, R]

    def __init__(
        self, function: Callable[P, R], graph: bool | None, graph_updates: bool | None
    ) -> None:
        if not callable(function):
            raise TypeError(
                f"nnx.{self.transform}: expected a callable, got a {type(function).__name__}.\n"
                f"  Fix: nnx.{self.transform}(function)"
            )
        self._lift = Lift(self.transform, function, graph, graph_updates)
        functools.update_wrapper(self, unwrapped_function(function), updated=())
        self.__wrapped__ = function

    def nnx_function(self) -> Callable[P, R]:
        """Return the function inside."""
        return self._lift.function  # type: ignore[no-any-return]  # as it was given

    def nnx_with_function(self, function: Callable[P, R]) -> Self:
        """Return the same transform of another function."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._lift = self._lift.of(function)
        made.__wrapped__ = function
        made._prepare()
        return made

    def _check_prefixes(self, **prefixes: Prefix) -> None:
        """Raise if an option has prefixes of a kind that the mode does not allow."""
        for option, prefix in prefixes.items():
            check_kinds(self.transform, option, prefix, self._lift.modes[1])

    def _prepare(self) -> None:
        """Make what belongs to one function only."""

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Self: ...
    @overload
    def __get__(
        self: Lifted[[Unseen], S], instance: object, owner: Any = None
    ) -> Callable[..., S]: ...
    @overload
    def __get__(
        self: Lifted[Concatenate[A, Q], S], instance: A, owner: Any = None
    ) -> Callable[Q, S]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> Callable[..., R]: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the transformed function."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<nnx.{self.transform} of {describe(self._lift.function)}>"
