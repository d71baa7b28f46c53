"""``nnx-state-missing`` and ``nnx-state-mismatch``: States that do not fit what they are put into."""

from __future__ import annotations

from typing import TypeAlias

from mypy.types import Instance, ProperType, get_proper_type

from typed_nnx_codegen.facts.filters import Everything, describe
from typed_nnx_codegen.facts.kinds import short_name
from typed_nnx_codegen.facts.states import StateView
from typed_nnx_mypy.call import Argument, Call
from typed_nnx_mypy.errorcodes import STATE_MISMATCH, STATE_MISSING
from typed_nnx_mypy.models.bindings import view_at
from typed_nnx_mypy.models.fit import Relation, fits_nowhere, in_words, lacks, misfit, relation
from typed_nnx_mypy.models.surgery import made_model
from typed_nnx_mypy.registry import on_call

_Merged: TypeAlias = tuple[ProperType, list[tuple[Argument, StateView]]]
"""A model, and the States that are to be put into its structure."""


@on_call("merge", "GraphDef.apply")
def states_fit_graphdef(call: Call) -> None:
    """Report States of the model that together lack some of its leaves, and States of another."""
    merged = _merged(call)
    if merged is None:
        return
    model, states = merged
    kinship = {_kinship(call, model, state) for state in states}
    if not kinship <= {"same", "unrelated"}:
        return
    found = misfit(call, model, Everything(), states)
    if found is None:
        return
    if "unrelated" not in kinship:
        filters = ", ".join(f"`{describe(view.filter)}`" for _, view in states)
        why = f"the filters are {filters}" if states else "there is none"
        call.report(
            STATE_MISSING,
            f"{call.name}: {short_name(model)} has {in_words(found.leaves)}, which no given State "
            f"holds: {why}. Fix: pass all States that `split` returned, "
            "nnx.merge(graphdef, state, rest)",
        )
        return
    strange, view = next(e for e in states if relation(model, e[1].model) == "unrelated")
    call.report(
        STATE_MISMATCH,
        f"{call.name}: the GraphDef is of {short_name(model)}, the State of "
        f"{short_name(view.model)} {found}. Fix: give it a State of {short_name(model)}",
        strange.expression,
    )


def _kinship(call: Call, model: ProperType, state: tuple[Argument, StateView]) -> Relation | None:
    """Return how the model of a State is related; one of a base class itself lacks the rest."""
    given, view = state
    found = relation(model, view.model)
    is_exact = found == "related" and made_model(given.expression, call.checker) is not None
    return "same" if is_exact else found


def _merged(call: Call) -> _Merged | None:
    """Return the model of a GraphDef and the States given with it; None where not all are known."""
    subject = call.subject("graphdef")
    graphdef = subject.type if subject is not None and not call.has_stars else None
    if not isinstance(graphdef, Instance) or graphdef.type.name != "GraphDef":
        return None
    model = get_proper_type(graphdef.args[0]) if graphdef.args else None
    given = call.behind(subject)
    views = [(each, view_at(each.expression, each.type, call.checker)) for each in given]
    states = [(each, view) for each, view in views if view is not None]
    return (model, states) if isinstance(model, Instance) and len(states) == len(given) else None


@on_call("update")
def updated_states_are_of_model(call: Call) -> None:
    """Report a State of another model that has what the updated one has no place for.

    A State of fewer leaves is a legal update. flax adds single leaves that are new, and so only
    what stands in nodes that are missing is reported, and States of which nothing fits.
    """
    given = call.positional
    if call.has_stars or not given:
        return
    model = given[0].type
    for each in given[1:]:
        view = view_at(each.expression, each.type, call.checker)
        if view is None or relation(model, view.model) != "unrelated":
            continue
        found = misfit(call, model, Everything(), [(each, view)])
        if found is None or not found.are_extra:
            continue
        lost = [
            leaf
            for leaf in found.leaves
            if lacks(model, Everything(), leaf.path[:-1], call.checker)
        ]
        if lost or fits_nowhere(model, view, call.checker):
            call.report(
                STATE_MISMATCH,
                f"update: the State is of {short_name(view.model)} and holds "
                f"{in_words(lost or found.leaves)}, for which {short_name(model)} has no place. "
                f"Fix: give it a State of {short_name(model)}",
                each.expression,
            )
