"""``nnx-state-missing``: merged States that do not cover the GraphDef."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from mypy.types import Instance, ProperType, Type, get_proper_type

from typed_nnx_mypy.call import Argument, Call
from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.errorcodes import STATE_MISSING
from typed_nnx_mypy.models.bindings import view_at
from typed_nnx_mypy.models.filters import Everything, describe
from typed_nnx_mypy.models.fit import in_words, missing, relation, wait_for
from typed_nnx_mypy.models.kinds import short_name
from typed_nnx_mypy.models.leaves import Leaf
from typed_nnx_mypy.models.states import StateView
from typed_nnx_mypy.models.surgery import may_be_other
from typed_nnx_mypy.registry import on_call
from typed_nnx_mypy.syntax.assigned import is_changed_in_place

Merged: TypeAlias = tuple[ProperType, list[tuple[Argument, StateView]]]
"""A model, and the States that are to be put into its structure."""


@on_call("merge", "GraphDef.apply")
def states_cover_graphdef(call: Call) -> None:
    """Report States of the model that together lack some of its leaves."""
    merged = merged_states(call)
    if merged is None:
        return
    model, states = merged
    views = [view for _, view in states]
    if wait_for([model, *(view.model for view in views)], call.checker):
        return
    if not views or any(relation(model, view.model) != "same" for view in views):
        return
    gone = missing(model, Everything(), views, call.checker)
    if gone and not may_fit([each for each, _ in states], [model], gone, call):
        filters = ", ".join(f"`{describe(view.filter)}`" for view in views)
        call.report(
            STATE_MISSING,
            f"{call.name}: {short_name(model)} has {in_words(gone)}, which no given State holds: "
            f"the filters are {filters}. Fix: pass all States that `split` returned, "
            "nnx.merge(graphdef, state, rest)",
        )


def merged_states(call: Call) -> Merged | None:
    """Return the model of a GraphDef and the States given with it; None where not all are known."""
    given = call.positional
    if call.has_stars:
        return None
    if call.receiver is not None:
        graphdef: Type = call.receiver
    elif given:
        graphdef = given.pop(0).type
    else:
        return None
    model = model_of_graphdef(graphdef)
    if model is None:
        return None
    states: list[tuple[Argument, StateView]] = []
    for each in given:
        view = view_at(each.expression, each.type, call.checker)
        if view is None:
            return None
        states.append((each, view))
    return model, states


def model_of_graphdef(found: Type) -> ProperType | None:
    """Return the type of the model that a GraphDef is of; None where it is not known."""
    proper = get_proper_type(found)
    if not isinstance(proper, Instance) or proper.type.name != "GraphDef" or not proper.args:
        return None
    model = get_proper_type(proper.args[0])
    return model if isinstance(model, Instance) else None


def may_fit(states: list[Argument], models: Sequence[Type], found: list[Leaf], call: Call) -> bool:
    """Tell whether States may be other than their types say, or the call is meant to fail.

    Args:
      states: The States.
      models: The types of the models that are compared.
      found: The leaves that are missing, or too many.
      call: The call.
    """
    checker: Checker = call.checker
    if any(is_changed_in_place(each.expression, checker) for each in states):
        return True
    if may_be_other([key for leaf in found for key in leaf.path], models, call.node, checker):
        return True
    return checker.is_expected_to_fail(call.node)
