"""The base of all exceptions: annotated fields, and a template that makes the text of them."""

from __future__ import annotations

import inspect
import string
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, TypeAlias, dataclass_transform

Path: TypeAlias = tuple[object, ...]

_MODULE = __name__.rpartition(".")[0]


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, in the singular or the plural."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def listed(entries: Sequence[object], most: int = 10) -> str:
    """Return entries, such as paths, one per line; texts as they are, others by their `repr`."""
    shown = [
        f"\n    {entry if isinstance(entry, str) else repr(entry)}" for entry in entries[:most]
    ]
    more = f"\n    ... and {len(entries) - most} more" if len(entries) > most else ""
    return "".join(shown) + more


class _Formatter(string.Formatter):
    """Fills a template with attributes; ``!l`` lists the entries of one, ``!t`` names its type."""

    def get_value(
        self, key: int | str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> object:
        del kwargs
        return getattr(args[0], str(key))

    def convert_field(self, value: object, conversion: str | None) -> object:
        if conversion == "l":
            assert isinstance(value, Sequence)
            return listed(value)
        if conversion == "t":
            return type(value).__name__
        return repr(value) if conversion == "r" else value


_formatter = _Formatter()


@dataclass_transform(eq_default=False)
class Error(Exception):
    """The base of all exceptions of typed_nnx.

    A subclass annotates its fields, which the constructor takes by position or by name, and has a
    `template` of its text. Fields are attributes and `args`, so that exceptions can be pickled and
    copied.
    """

    template: ClassVar[str]
    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__module__.startswith(f"{_MODULE}."):
            cls.__module__ = _MODULE  # what tracebacks and pickles show
        annotations = inspect.get_annotations(cls)
        own = [name for name, kind in annotations.items() if "ClassVar" not in str(kind)]
        cls._fields = tuple(dict.fromkeys((*cls._fields, *own)))

    def __init__(self, *args: object, **kwargs: object) -> None:
        given = {**dict(zip(self._fields, args, strict=False)), **kwargs}
        missing = [f for f in self._fields if f not in given and not hasattr(type(self), f)]
        if missing or len(given) < len(args) + len(kwargs) or not given.keys() <= {*self._fields}:
            expected = ", ".join(self._fields)
            raise TypeError(f"{type(self).__name__}({expected}): got {args!r} and {kwargs!r}")
        for name in self._fields:
            setattr(self, name, given[name] if name in given else getattr(type(self), name))
        Exception.__init__(self, *[getattr(self, name) for name in self._fields])  # sets `args`

    def __reduce__(self) -> tuple[type[Error], tuple[object, ...], dict[str, object]]:
        return type(self), self.args, vars(self).copy()

    def __str__(self) -> str:
        return self.message()

    def message(self) -> str:
        """Return the text: what happened where, what was expected, and how to fix it."""
        return _formatter.vformat(self.template, (self,), {})


Error.__module__ = _MODULE


class Problem(Error):
    """What the exceptions have in common that tell a problem of one function, and its fix.

    Attributes:
        function: The function, class or object that the problem is about.
        problem: What is wrong: what was given and what is expected.
        fix: What to write.
    """

    function: str
    problem: str
    fix: str
    template: ClassVar[str] = "{function}: {problem}\n  Fix: {fix}"

    @classmethod
    def of_argument(
        cls, function: str, argument: str, got: object, expected: str, fix: str
    ) -> Self:
        """Return the exception for an argument of a wrong type."""
        kind = type(got).__name__
        return cls(
            function, f"argument `{argument}` is {got!r} ({kind}); expected {expected}.", fix
        )
