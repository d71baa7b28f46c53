"""Settings of a thread: from now on, for a block, or for the calls of a function."""

from __future__ import annotations

import contextlib
import enum
import threading
from collections.abc import Callable
from typing import Any, ClassVar, Final, Self, TypeVar


class Restoring:
    """Something that was set just now; leaving it as a context manager sets it back."""

    __slots__ = ("_restore",)

    def __init__(self, restore: Callable[[], None]) -> None:
        self._restore: Callable[[], None] = restore

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        self._restore()


F = TypeVar("F", bound=Callable[..., Any])


class _Stacks(threading.local):
    """The values set in this thread, by setting: one for each block that is open, and before it."""

    def __init__(self) -> None:
        self.of: dict[type[Setting], list[bool]] = {}


_stacks = _Stacks()


class Setting(contextlib.ContextDecorator):
    """Sets a flag of this thread when it is made.

    As a context manager it sets it for the block only; as a decorator for the calls of a function.

    Args:
        value: The new value.
    """

    __slots__ = ("_before", "_value")

    _default: ClassVar[bool] = True

    def __init__(self, value: bool, /) -> None:
        stack = self.get_stack()
        self._value: bool = value
        self._before: bool | None = stack[-1] if stack else None
        stack[-1:] = [value]
        self._apply(value)

    @classmethod
    def _apply(cls, value: bool) -> None:
        """Put the value where it is read on every call."""

    @classmethod
    def get_default(cls) -> bool:
        """Return the value where nothing was set."""
        return cls._default

    @classmethod
    def set_default(cls, value: bool, /) -> None:
        """Change the value for every thread that sets nothing itself."""
        cls._default = value

    @classmethod
    def get_stack(cls) -> list[bool]:
        """Return what was set in this thread and is not over yet, the current value last."""
        return _stacks.of.setdefault(cls, [])

    @classmethod
    def current_value(cls) -> bool:
        """Return the current value."""
        stack = cls.get_stack()
        return stack[-1] if stack else cls.get_default()

    def __enter__(self) -> None:
        if self._before is not None:
            stack = self.get_stack()
            stack[-1:] = [self._before, self._value]

    def __exit__(self, *error: object) -> None:
        self.get_stack().pop()
        self._apply(self.current_value())

    def __call__(self, f: F) -> F:
        """Return the function with the flag set while it runs; outside it is as before again."""
        self.get_stack()[-1:] = [] if self._before is None else [self._before]
        self._apply(self.current_value())
        return super().__call__(f)

    def _recreate_cm(self) -> Self:
        return type(self)(self._value)  # for each call


class Missing(enum.Enum):
    """The type of `MISSING`; of an enum, so that checkers narrow by ``is MISSING``."""

    MISSING = "<not given>"

    def __repr__(self) -> str:
        return self.value


MISSING: Final = Missing.MISSING
"""No argument was given, or nothing was found under a name."""


def typed_as(overloads: Callable[[], F]) -> Callable[[Callable[..., Any]], F]:
    """Return a decorator that gives a function the types of another one for type checkers.

    At run time it does nothing, not even call the lambda: generated overloads are in modules of
    the stub package, which no program can import. A method annotates its `self`: mypy forgets in
    its cache that a method has decorators, and then does not look at the `self` of the overloads.
    """
    del overloads
    return _unchanged


def _unchanged(function: object) -> Any:
    return function
