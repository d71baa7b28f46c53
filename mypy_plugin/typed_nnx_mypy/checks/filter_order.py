"""``nnx-filter-order``: a filter that no leaf can reach, and `...` before the last one."""

from __future__ import annotations

from mypy.nodes import ARG_POS, DictExpr, EllipsisExpr, Expression, NameExpr

from typed_nnx_codegen.facts.filters import (
    Everything,
    Filter,
    Nothing,
    any_of,
    describe,
    implies,
)
from typed_nnx_mypy.call import Argument, Call, filters_of
from typed_nnx_mypy.errorcodes import FILTER_ORDER
from typed_nnx_mypy.registry import on_call


@on_call("split", "state", "pop", "unpack", "split_state", "filter_state")
@on_call("State.split", "State.filter")
def filters_can_be_reached(call: Call) -> None:
    """Report a filter for which the filters before it leave nothing, whatever the model."""
    _check(call, call.behind(call.subject() or next(iter(call.positional), None)))


@on_call("StateAxes", "StateSharding")
def keys_can_be_reached(call: Call) -> None:
    """Report the same of the filters that are the keys of a mapping, in its order."""
    match call.positional:
        case [Argument(expression=DictExpr(items=items))] if all(key for key, _ in items):
            keys = [key for key, _ in items if key is not None]
            _check(call, [Argument(e, call.checker.type_of(e), ARG_POS, None) for e in keys])
        case _:
            pass


def _check(call: Call, given: list[Argument]) -> None:
    filters = filters_of(given, call.checker)
    rest = _early_rest(given)
    if rest is not None:
        text = "..." if isinstance(rest, EllipsisExpr) else "True"
        call.report(
            FILTER_ORDER,
            f"{call.name}: `{text}` takes every remaining leaf, so it must be the last filter. "
            "Fix: move it to the end",
            rest,
        )
        return
    for at, each in enumerate(filters):
        if each != Nothing() and implies(each, any_of(filters[:at])):
            taker = next((other for other in filters[:at] if implies(each, other)), None)
            call.report(
                FILTER_ORDER,
                f"{call.name}: nothing is left for {describe(each)}: "
                f"{_reason(each, taker)}. {_fix(each, taker)}",
                given[at].expression,
            )


def _early_rest(given: list[Argument]) -> Expression | None:
    """Return `...` or True where a filter of another kind comes after it: the runtimes raise."""
    for at, each in enumerate(given):
        if _is_rest(each.expression) and not all(
            _is_rest(later.expression) for later in given[at + 1 :]
        ):
            return each.expression
    return None


def _is_rest(expression: Expression) -> bool:
    is_true = isinstance(expression, NameExpr) and expression.fullname == "builtins.True"
    return isinstance(expression, EllipsisExpr) or is_true


def _reason(of: Filter, taker: Filter | None) -> str:
    if taker is None:
        return "the filters before it take every leaf"
    if taker == of:
        return "the same filter comes before it"
    return f"{describe(taker)} comes before it and takes the same leaves"


def _fix(of: Filter, taker: Filter | None) -> str:
    if taker is None or taker == of or of == Everything():
        return "Fix: remove it"
    return f"Fix: put {describe(of)} before {describe(taker)}"
