"""Builds the overloads of transforms that are called with a function, or give a decorator."""

from __future__ import annotations

from dataclasses import dataclass

IMPORTS = (
    "from collections.abc import Callable",
    "from typing import Any, ParamSpec, TypeVar, overload",
)
MODES = ("graph: bool | None = None", "graph_updates: bool | None = None")
"""The options that all transforms have."""


@dataclass(frozen=True)
class Decorating:
    """A transform ``name(function, *, ...)``, which without the function gives a decorator.

    Attributes:
        name: Its name.
        options: Its options, which are given by name.
        parameter: The name of its first parameter.
        takes: The type of the function.
        gives: The type of what it makes of it.
    """

    name: str
    options: tuple[str, ...]
    parameter: str = "f"
    takes: str = "Callable[P, R]"
    gives: str = "Callable[P, R]"

    def text(self) -> str:
        """Return both overloads."""
        decorator = f"Callable[[{self.takes}], {self.gives}]"
        with_function = (f"{self.parameter}: {self.takes}", "*", *self.options)
        # Not ``f: Unset = ...``: for a function of unknown type both overloads would do then.
        without = ("*", *self.options)
        return overload_text(self.name, with_function, self.gives) + overload_text(
            self.name, without, decorator
        )


def overload_text(
    name: str, parameters: tuple[str, ...], result: str, *, indent: str = "", remark: str = ""
) -> str:
    """Return one overload, with a parameter to a line.

    Args:
        name: The name of the function.
        parameters: Its parameters.
        result: The type of what it returns.
        indent: What each line starts with.
        remark: A comment for the line that checkers report.
    """
    return f"{indent}@overload\n" + signature_text(
        name, parameters, result, indent=indent, remark=remark
    )


def signature_text(
    name: str, parameters: tuple[str, ...], result: str, *, indent: str = "", remark: str = ""
) -> str:
    """Return one signature, with a parameter to a line; see `overload_text`."""
    lines = "".join(f"{indent}    {parameter},\n" for parameter in parameters)
    comment = f"  # {remark}" if remark else ""
    return f"{indent}def {name}({comment}\n{lines}{indent}) -> {result}: ...\n"
