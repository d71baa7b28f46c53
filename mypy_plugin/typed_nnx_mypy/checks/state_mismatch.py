"""``nnx-state-mismatch``: States put into a model that they are not of."""

from __future__ import annotations

from typed_nnx_mypy.call import Call
from typed_nnx_mypy.checks.state_missing import may_fit, merged_states
from typed_nnx_mypy.errorcodes import STATE_MISMATCH
from typed_nnx_mypy.models.bindings import view_at
from typed_nnx_mypy.models.filters import Everything
from typed_nnx_mypy.models.fit import (
    in_words,
    is_below_missing_node,
    missing,
    relation,
    subclass_may_hold,
    unknown_to,
    wait_for,
)
from typed_nnx_mypy.models.kinds import short_name
from typed_nnx_mypy.registry import on_call


@on_call("merge", "GraphDef.apply")
def merged_states_are_of_model(call: Call) -> None:
    """Report States of another model that lack leaves of the GraphDef's, or have leaves too many."""
    merged = merged_states(call)
    if merged is None:
        return
    model, states = merged
    relations = [relation(model, view.model) for _, view in states]
    if "unrelated" not in relations or not set(relations) <= {"same", "unrelated"}:
        return
    if wait_for([model, *(view.model for _, view in states)], call.checker):
        return
    strange, view = states[relations.index("unrelated")]
    words = f"{call.name}: the GraphDef is of {short_name(model)}"
    extra, _ = unknown_to(model, view, call.checker)
    gone = missing(model, Everything(), [each for _, each in states], call.checker)
    if extra:
        words = f"{words}, the State of {short_name(view.model)} with {in_words(extra)} too many"
    elif gone:
        words = f"{words} and has {in_words(gone)}, the State of {short_name(view.model)} has not"
    if subclass_may_hold(model, extra, call.checker) or any(
        subclass_may_hold(each.model, [] if extra else gone, call.checker) for _, each in states
    ):
        return
    if (extra or gone) and not may_fit(
        [each for each, _ in states], [model, view.model], extra or gone, call
    ):
        call.report(
            STATE_MISMATCH,
            f"{words}. Fix: give it a State of {short_name(model)}",
            strange.expression,
        )


@on_call("update")
def updated_states_are_of_model(call: Call) -> None:
    """Report a State of another model that has what the updated one has no place for.

    A State of fewer leaves is a legal update. flax adds single leaves that are new, and so only
    what stands in nodes that are missing is reported, and States of which nothing fits.
    """
    given = call.positional
    if call.has_stars or len(given) < 2:
        return
    node, *states = given
    for each in states:
        view = view_at(each.expression, each.type, call.checker)
        if view is None or relation(node.type, view.model) != "unrelated":
            continue
        if wait_for([node.type, view.model], call.checker):
            return
        extra, are_all = unknown_to(node.type, view, call.checker)
        lost = [leaf for leaf in extra if is_below_missing_node(node.type, leaf.path, call.checker)]
        if (
            not extra
            or not (lost or are_all)
            or may_fit([each], [node.type, view.model], lost or extra, call)
        ):
            continue
        if not subclass_may_hold(node.type, lost or extra, call.checker):
            call.report(
                STATE_MISMATCH,
                f"update: the State is of {short_name(view.model)} and holds "
                f"{in_words(lost or extra)}, for which {short_name(node.type)} has no place. "
                f"Fix: give it a State of {short_name(node.type)}",
                each.expression,
            )
