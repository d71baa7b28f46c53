"""``nnx-filter-order`` and ``nnx-filter-coverage``: filters that take nothing, and leaves that none takes."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from mypy.nodes import ARG_POS, DictExpr, EllipsisExpr, Expression, NameExpr
from mypy.types import Type

from typed_nnx_codegen.facts.filters import (
    Everything,
    Filter,
    Nothing,
    PathContains,
    PathIn,
    all_of,
    any_of,
    describe,
    implies,
    looks_at_paths,
    negation,
    parts_of,
)
from typed_nnx_codegen.facts.kinds import short_name
from typed_nnx_codegen.facts.leaves import is_leaf, leaves_of
from typed_nnx_mypy.call import Argument, Call, filters_of
from typed_nnx_mypy.errorcodes import FILTER_COVERAGE, FILTER_ORDER
from typed_nnx_mypy.models.bindings import is_sure, view_at
from typed_nnx_mypy.models.surgery import is_new, may_be_other
from typed_nnx_mypy.registry import on_call

_LISTED: Final = 6


@on_call("split", "state", "pop", "unpack", "split_state", "filter_state")
@on_call("State.split", "State.filter")
def filters_can_be_reached(call: Call) -> None:
    """Report a filter for which the filters before it leave nothing, whatever the model."""
    _check(call, call.behind(call.subject() or next(iter(call.positional), None)))


@on_call("split", "state", "unpack")
def paths_are_there(call: Call) -> None:
    """Report a filter by a path that nothing in the model has."""
    subject = call.subject()
    if subject is None or is_leaf(subject.type):
        return
    given = call.behind(subject)
    for argument, of in zip(given, filters_of(given, call.checker), strict=True):
        by_path = (e for e in parts_of(of) if isinstance(e, PathContains | PathIn))
        part = next((each for each in by_path if _is_nowhere(each, subject, call)), None)
        if part is not None:
            keys = _keys_in(subject, call)
            call.report(
                FILTER_ORDER,
                f"{call.name}: no path in {short_name(subject.type)} {_has(part)}, so "
                f"{describe(part)} takes nothing. {_instead(part, keys)}",
                argument.expression,
            )


def _is_nowhere(of: PathContains | PathIn, model: Argument, call: Call) -> bool:
    """Tell whether a filter surely takes nothing of a model."""
    found = leaves_of(model.type, of, call.checker)
    if not found.items or not found.is_complete or any(e.passes is not False for e in found.items):
        return False
    keys = [of.key] if isinstance(of, PathContains) else [key for path in of.paths for key in path]
    return not may_be_other(keys, [model.type], call.node, call.checker)


def _keys_in(model: Argument, call: Call) -> list[str]:
    """Return the keys of the paths in a model, outermost first."""
    paths = [leaf.path for leaf in leaves_of(model.type, Everything(), call.checker).items]
    longest = max(map(len, paths))
    keys = (path[at] for at in range(longest) for path in paths if at < len(path))
    return list(dict.fromkeys(str(key) for key in keys if key is not None))


def _has(of: PathContains | PathIn) -> str:
    if isinstance(of, PathIn):
        return f"is {' or '.join(map(repr, of.paths))}"
    return f"{'has' if of.exact else 'has a key with'} {of.key!r}"


def _instead(of: PathContains | PathIn, keys: list[str]) -> str:
    asked = [of.key] if isinstance(of, PathContains) else [key for path in of.paths for key in path]
    close = [each for key in asked for each in get_close_matches(str(key), keys, n=1)]
    wrong = [each for each in close if each not in map(str, asked)]
    if wrong:
        return f"Fix: did you mean {wrong[0]!r}?"
    return f"Fix: use what is there: {', '.join(keys[:_LISTED])}{', ...' * (len(keys) > _LISTED)}"


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
    is_rest = [_is_rest(each.expression) for each in given]
    early = next((at for at, each in enumerate(is_rest) if each and not all(is_rest[at:])), None)
    if early is not None:
        text = "..." if isinstance(given[early].expression, EllipsisExpr) else "True"
        call.report(
            FILTER_ORDER,
            f"{call.name}: `{text}` takes every remaining leaf, so it must be the last filter. "
            "Fix: move it to the end",
            given[early].expression,
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


def _is_rest(expression: Expression) -> bool:
    """Tell whether a filter is `...` or True: the runtimes raise where one of another kind follows."""
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


# -- nnx-filter-coverage ----------------------------------------------------------------------

_LEAVES_LISTED: Final = 3


@on_call("split", "State.split", "split_state")
def filters_cover_all(call: Call) -> None:
    """Report a field of a model, or of a State, that no filter of a split takes."""
    subject = call.subject("node" if call.name == "split" else "state")
    given = call.behind(subject)
    if subject is None or not given or call.has_stars:
        return
    model: Type = subject.type
    held: Filter = Everything()
    if call.name != "split":
        view = view_at(subject.expression, subject.type, call.checker)
        if view is None or not is_sure(subject.expression, view, call.checker):
            return
        model, held = view.model, view.filter
    elif is_leaf(model):
        return
    taken = any_of(filters_of(given, call.checker))
    if looks_at_paths(taken) or looks_at_paths(held):
        # A Variable at two places is in a State once, by a path of which types say nothing.
        every = leaves_of(model, Everything(), call.checker)
        if not every.is_complete or not all(leaf.is_own for leaf in every.items):
            return
    left = all_of((held, negation(taken)))
    found = [
        each for each in leaves_of(model, left, call.checker).items if each.passes and each.is_sure
    ]
    keys = {key for leaf in found for key in leaf.path}
    if not found:
        return
    is_as_made = is_new(subject.expression, call.node, call.checker)
    if not is_as_made and may_be_other(
        keys, [model], call.node, call.checker, losing=[leaf.type for leaf in found]
    ):
        return
    paths = [".".join("*" if key is None else str(key) for key in leaf.path) for leaf in found]
    pairs = zip(paths[:_LEAVES_LISTED], found, strict=False)
    listed = ", ".join(f"{path} ({short_name(leaf.type)})" for path, leaf in pairs)
    more = f" and {len(found) - _LEAVES_LISTED} more" if len(found) > _LEAVES_LISTED else ""
    call.report(
        FILTER_COVERAGE,
        f"{call.name}: no filter takes {listed}{more} of {short_name(model)}. "
        "Fix: end with `...` for what is left, or add a filter",
    )
