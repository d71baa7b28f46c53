"""Arguments of calls, and the parameters that they are for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from typed_nnx_codegen.migrate.linen.running.values import Value


@dataclass(frozen=True)
class Passed:
    """An argument of a call.

    Attributes:
        value: What it stands for.
        code: It in the constructor, a template; None where it depends on the call.
        node: It as it is written.
        keyword: Its keyword; empty if it has none.
        star: `*` or `**` before it.
        hidden: Whether something that is called has it already: a partial in a field.
        place: The frame of the method in which it is written, where it depends on a call.
    """

    value: Value
    code: str | None
    node: cst.BaseExpression
    keyword: str = ""
    star: str = ""
    hidden: bool = False
    place: object = None


@dataclass
class BoundArguments:
    """Which parameter each argument is for.

    Attributes:
        by_name: The arguments by parameter.
        extra: Arguments without a parameter.
        is_open: Whether some are not known: `*args`, `**kwargs`.
    """

    by_name: dict[str, Passed] = field(default_factory=dict)
    extra: list[Passed] = field(default_factory=list)
    is_open: bool = False


def bind_names(names: Sequence[str], passed: Sequence[Passed]) -> BoundArguments:
    """Return which of some names in the order of positions each argument is for."""
    bound = BoundArguments()
    position = 0
    for one in passed:
        if one.star:
            bound.is_open = True
            bound.extra.append(one)
        elif one.keyword:
            bound.by_name[one.keyword] = one
        elif bound.is_open or position >= len(names):
            bound.extra.append(one)
        else:
            bound.by_name[names[position]] = one
            position += 1
    return bound


def bind(params: cst.Parameters, passed: Sequence[Passed], skip: int = 0) -> BoundArguments:
    """Return which parameter of a function each argument is for.

    Args:
        params: The parameters.
        passed: The arguments.
        skip: How many of the first parameters have their argument already.
    """
    positional = [*params.posonly_params, *params.params][skip:]
    return bind_names([one.name.value for one in positional], passed)
