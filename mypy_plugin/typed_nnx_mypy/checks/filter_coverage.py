"""``nnx-filter-coverage``: a split whose filters leave out a field of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mypy.nodes import CallExpr, MemberExpr
from mypy.types import Type, get_proper_type

from typed_nnx_mypy.call import Argument, Call
from typed_nnx_mypy.errorcodes import FILTER_COVERAGE
from typed_nnx_mypy.models.bindings import is_sure, view_at
from typed_nnx_mypy.models.filter_syntax import read_filter
from typed_nnx_mypy.models.filters import (
    Everything,
    Filter,
    all_of,
    any_of,
    looks_at_paths,
    negation,
)
from typed_nnx_mypy.models.kinds import short_name
from typed_nnx_mypy.models.leaves import is_leaf, leaves_of
from typed_nnx_mypy.models.surgery import may_be_other
from typed_nnx_mypy.registry import on_call

_LISTED: Final = 3


@on_call("split")
def split_covers_model(call: Call) -> None:
    """Report a field of a model that no filter of a split takes."""
    node = call.argument("node", 0)
    given = call.positional[1:]
    if node is None or not given or call.has_stars or is_leaf(node.type):
        return
    _check(call, given, node.type, Everything())


@on_call("State.split", "split_state")
def split_covers_state(call: Call) -> None:
    """Report a field of a State that no filter of a split takes."""
    given: Sequence[Argument] = call.positional
    if call.has_stars or not given:
        return
    if call.name == "split_state":
        state, type_ = given[0].expression, given[0].type
        given = given[1:]
    else:
        node = call.node
        callee = node.callee if isinstance(node, CallExpr) else None
        if not isinstance(callee, MemberExpr) or call.receiver is None:
            return
        state, type_ = callee.expr, get_proper_type(call.receiver)
    view = view_at(state, type_, call.checker)
    if view is not None and given and is_sure(state, view, call.checker):
        _check(call, given, view.model, view.filter)


def _check(call: Call, given: Sequence[Argument], model: Type, held: Filter) -> None:
    """Report the first leaves that are in the model by `held` and that no filter takes."""
    taken = any_of(read_filter(each.expression, each.type, call.checker) for each in given)
    if looks_at_paths(taken) or looks_at_paths(held):
        return
    left = all_of((held, negation(taken)))
    found = [
        each for each in leaves_of(model, left, call.checker).items if each.passes and each.is_sure
    ]
    keys = {key for leaf in found for key in leaf.path}
    if not found or may_be_other(keys, [model], call.node, call.checker):
        return
    paths = [".".join("*" if key is None else str(key) for key in leaf.path) for leaf in found]
    pairs = zip(paths[:_LISTED], found, strict=False)
    listed = ", ".join(f"{path} ({short_name(leaf.type)})" for path, leaf in pairs)
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    call.report(
        FILTER_COVERAGE,
        f"{call.name}: no filter takes {listed}{more} of {short_name(model)}. "
        "Fix: end with `...` for what is left, or add a filter",
    )
