"""What calls pass to the parameters of a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import libcst as cst

from typed_nnx_codegen.migrate.analysis.values import NOTHING, UNKNOWN, ProjectFunction, Value, join


class PassedArgument(Protocol):
    """An argument of a call."""

    @property
    def value(self) -> Value:
        """What it stands for."""
        ...

    @property
    def keyword(self) -> str:
        """Its keyword; empty for one by position."""
        ...

    @property
    def star(self) -> str:
        """``*`` or ``**`` where it is unpacked."""
        ...


def pass_arguments(
    function: ProjectFunction, arguments: Sequence[PassedArgument], *, skip: bool
) -> None:
    """Note what a call passes to a function.

    Args:
        function: The function.
        arguments: The arguments of the call.
        skip: Whether the first parameter is given by the object or class.
    """
    parameters = function.node.params
    by_position = [*parameters.posonly_params, *parameters.params][1 if skip else 0 :]
    names = {parameter.name.value for parameter in (*by_position, *parameters.kwonly_params)}
    position = 0
    for argument in arguments:
        if argument.star:
            _pass_rest(function, by_position[position:], parameters, argument.star)
            position = len(by_position)
        elif argument.keyword:
            if argument.keyword in names:
                _note(function, argument.keyword, argument.value)
        else:
            if position < len(by_position):
                _note(function, by_position[position].name.value, argument.value)
            position += 1


def _pass_rest(
    function: ProjectFunction, rest: Sequence[cst.Param], parameters: cst.Parameters, star: str
) -> None:
    unsure = list(rest) if star == "*" else [*rest, *parameters.kwonly_params]
    for parameter in unsure:
        _note(function, parameter.name.value, UNKNOWN)


def _note(function: ProjectFunction, name: str, value: Value) -> None:
    function.passed[name] = join(function.passed.get(name, NOTHING), value)
