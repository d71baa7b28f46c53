"""``nnx-filter-coverage``: a split whose filters leave out a field of the model."""

from __future__ import annotations

from typing import Final

from mypy.types import Type

from typed_nnx_codegen.facts.filters import (
    Everything,
    Filter,
    all_of,
    any_of,
    looks_at_paths,
    negation,
)
from typed_nnx_codegen.facts.kinds import short_name
from typed_nnx_codegen.facts.leaves import is_leaf, leaves_of
from typed_nnx_mypy.call import Call, filters_of
from typed_nnx_mypy.errorcodes import FILTER_COVERAGE
from typed_nnx_mypy.models.bindings import is_sure, view_at
from typed_nnx_mypy.models.surgery import is_new, may_be_other
from typed_nnx_mypy.registry import on_call

_LISTED: Final = 3


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
    pairs = zip(paths[:_LISTED], found, strict=False)
    listed = ", ".join(f"{path} ({short_name(leaf.type)})" for path, leaf in pairs)
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    call.report(
        FILTER_COVERAGE,
        f"{call.name}: no filter takes {listed}{more} of {short_name(model)}. "
        "Fix: end with `...` for what is left, or add a filter",
    )
