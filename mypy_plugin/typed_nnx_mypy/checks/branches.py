"""``nnx-branches``: branches of cond and switch that return different things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mypy import nodes
from mypy.nodes import Expression

from typed_nnx_codegen.facts.constants import resolved
from typed_nnx_codegen.facts.parameters import Function, function_of
from typed_nnx_codegen.facts.states import view_of
from typed_nnx_mypy.call import Call
from typed_nnx_mypy.errorcodes import BRANCHES
from typed_nnx_mypy.models.fit import in_words, missing
from typed_nnx_mypy.models.structures import Difference, Node, Structure, difference, result_of
from typed_nnx_mypy.registry import on_call
from typed_nnx_mypy.reporter import Reporter

_CONDS: Final = ("cond", "jax.lax.cond")
_SWITCHES: Final = ("switch", "jax.lax.switch")


@dataclass(frozen=True)
class _Branch:
    """A branch.

    Attributes:
        name: What it is in the call: "true_fun", "branch 2".
        at: Where it is written in the call.
        function: What is known of it.
    """

    name: str
    at: Expression
    function: Function | None

    @property
    def title(self) -> str:
        """The branch and its function, for messages."""
        named = self.function is not None and self.function.name
        return f"{self.name} `{named}`" if named else self.name


@on_call(*_CONDS)
def cond_returns_the_same(call: Call) -> None:
    """Report branches of cond that surely differ."""
    names = ("true_fun", "false_fun")
    found = [(name, call.argument(name, at)) for at, name in enumerate(names, start=1)]
    given = [(name, each.expression) for name, each in found if each is not None]
    if len(given) == len(names):
        branches = [_Branch(name, at, function_of(at, call.checker)) for name, at in given]
        _check(call, branches, _operands(call, 3))


@on_call(*_SWITCHES)
def switch_returns_the_same(call: Call) -> None:
    """Report branches of switch that surely differ, and that there are none."""
    given = call.argument("branches", 1)
    items = _items(given.expression, call) if given is not None else None
    if given is None or items is None:
        return
    if not items:
        message = f"{call.name}: there are no branches. Fix: give at least one function"
        call.report(BRANCHES, message, given.expression)
        return
    is_written = isinstance(given.expression, nodes.ListExpr | nodes.TupleExpr)
    functions = [(item, function_of(item, call.checker)) for item in items]
    branches = [
        _Branch(f"branch {number}", item if is_written else given.expression, function)
        for number, (item, function) in enumerate(functions)
    ]
    _check(call, branches, _operands(call, 2))


def _items(expression: Expression, call: Call) -> list[Expression] | None:
    """Return the functions in a list or tuple; None where they are not known."""
    expression = resolved(expression, call.checker)
    if not isinstance(expression, nodes.ListExpr | nodes.TupleExpr):
        return None
    has_stars = any(isinstance(each, nodes.StarExpr) for each in expression.items)
    return None if has_stars else expression.items


def _operands(call: Call, first: int) -> int | None:
    """Return how many operands a call gives; None where that is not known."""
    if call.has_stars or call.expression is None:
        return None
    if call.keyword("operand") is not None:
        return 1
    given = len(call.positional) - first
    return given if given >= 0 else None


def _check(call: Call, branches: Sequence[_Branch], operands: int | None) -> None:
    counts = [(each, _wrong_count(call, each, operands)) for each in branches]
    for branch, message in counts:
        if message is not None:
            call.report(BRANCHES, message, branch.at)
    if all(message is None for _, message in counts):
        _compare(call, branches)


# -- parameters -------------------------------------------------------------------------------


def _wrong_count(call: Call, branch: _Branch, operands: int | None) -> str | None:
    function = branch.function
    if function is None or operands is None or not function.is_exact:
        return None
    known = function.positional
    fewest = sum(each.kind.is_required() for each in known)
    if fewest <= operands and (function.takes_more_by_position or operands <= len(known)):
        return None
    if call.expression is None or call.checker.has_error(call.expression):
        return None  # mypy knows the types, and says so
    takes = f"takes {len(known)} {'parameter' if len(known) == 1 else 'parameters'}"
    given = f"there {'is 1 operand' if operands == 1 else f'are {operands} operands'}"
    return (
        f"{call.name}: {branch.title} {takes}, but {given}. "
        "Fix: give every branch one parameter for each operand"
    )


# -- results ----------------------------------------------------------------------------------


def _compare(call: Call, branches: Sequence[_Branch]) -> None:
    """Report the first branch that differs from one before it."""
    before: list[tuple[_Branch, Structure]] = []
    for branch in branches:
        if branch.function is None:
            continue
        result = result_of(branch.function, call.checker)
        for other, earlier in before:
            found = (
                difference(earlier, result)
                or difference(earlier, result, of_numbers=True)
                or _state_difference(earlier, result, call.checker)
            )
            if found is not None:
                _report(call, found, other, branch)
                return
        before.append((branch, result))


def _state_difference(first: Structure, second: Structure, checker: Reporter) -> Difference | None:
    """Return what one of two States surely has and the other has not."""
    one = view_of(first.type) if isinstance(first, Node) else None
    other = view_of(second.type) if isinstance(second, Node) else None
    if one is None or other is None:
        return None
    if gone := missing(one.model, one.filter, [other], checker):
        return Difference("", f"a State with {in_words(gone[:1])}", "a State without it")
    gone = missing(other.model, other.filter, [one], checker)
    return Difference("", f"a State without {in_words(gone[:1])}", "one with it") if gone else None


def _report(call: Call, found: Difference, first: _Branch, second: _Branch) -> None:
    place = f" at {found.path}" if found.path else ""
    call.report(
        BRANCHES,
        f"{call.name}: {first.title} returns {found.first}{place}, but {second.title} returns "
        f"{found.second}. Fix: return the same structure from every branch",
        second.at,
    )
