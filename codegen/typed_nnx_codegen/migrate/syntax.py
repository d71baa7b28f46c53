"""Whether a text is Python, without running it."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Final

import libcst

_STACK: Final = 1000


class UnknownSyntaxError(Exception):
    """Python may know this syntax, but libcst does not."""


class TooDeepError(Exception):
    """Code is nested so deeply that parsers come to their limits; libcst's would end the process."""


def is_python(text: str) -> bool:
    """Whether a text parses, be it with the syntax of a newer Python than the one that runs.

    Raises:
        TooDeepError: It is nested too deeply to say.
    """
    return not error_in(text) or parses_with_libcst(text)


def still_parses(text: str, *, is_newer: bool) -> bool:
    """Whether a new text parses as the old one did.

    Args:
        text: The new text.
        is_newer: Whether the old one has the syntax of a newer Python than the one that runs.

    Raises:
        TooDeepError: It is nested too deeply to say.
    """
    return parses_with_libcst(text) if is_newer else not error_in(text)


@lru_cache(maxsize=1024)
def error_in(text: str) -> str:
    """Return where and why a text does not parse with the Python that runs; empty where it does.

    Raises:
        TooDeepError: It is nested too deeply to say.
    """
    try:
        with warnings.catch_warnings():
            # Escapes in the strings of users are not our business.
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        if error.msg and error.msg.startswith(("too many nested", "too many statically nested")):
            raise TooDeepError(error.msg) from error
        return f"line {error.lineno}: {error.msg}"
    except (RecursionError, MemoryError) as error:
        # The parser of Python 3.11 calls its own limit a MemoryError.
        raise TooDeepError("it is nested too deeply") from error
    except ValueError as error:
        return f"line 1: {error}"
    return ""


def gives_back(text: str) -> str:
    """Return a text as libcst writes it: the same, but for a few spaces in unusual places.

    Raises:
        UnknownSyntaxError: libcst cannot parse it.
    """
    try:
        return libcst.parse_module(text).code
    except libcst.ParserSyntaxError as error:
        raise UnknownSyntaxError(f"line {error.raw_line}: libcst cannot parse it") from error


def parses_with_libcst(text: str) -> bool:
    """Whether a text parses with libcst, which knows the syntax of newer Pythons too."""
    try:
        libcst.parse_module(text)
    except (libcst.ParserSyntaxError, ValueError):
        return False
    return True


@contextmanager
def deeper() -> Iterator[None]:
    """Give code that is read or evaluated amid other code a stack of its own."""
    sys.setrecursionlimit(sys.getrecursionlimit() + _STACK)
    try:
        yield
    finally:
        sys.setrecursionlimit(sys.getrecursionlimit() - _STACK)
