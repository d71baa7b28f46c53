"""Where training code changes its state: `apply_gradients` and `replace`."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN
from typed_nnx_codegen.migrate.linen.callers.bindings import binder_of, same_variable
from typed_nnx_codegen.migrate.linen.callers.places import Places
from typed_nnx_codegen.migrate.linen.callers.rendering import keyword_of
from typed_nnx_codegen.migrate.linen.callers.training.found import Update
from typed_nnx_codegen.migrate.linen.callers.training.program import Program
from typed_nnx_codegen.migrate.linen.callers.training.state_values import (
    NotKnownError,
    holds_state,
    is_changing,
)


def update_of(
    call: cst.Call, analysis: Analysis, places: Places, collections: frozenset[str]
) -> Update:
    """Return what a call of `apply_gradients` or `replace` of a state does.

    Args:
        call: The call.
        analysis: The file.
        places: Where its nodes stand.
        collections: The fields that have collections of variables.

    Raises:
        NotKnownError: It has no known form in NNX.
    """
    func = call.func
    assert isinstance(func, cst.Attribute)
    given = {keyword_of(arg): arg for arg in call.args}
    is_step = func.attr.value == "apply_gradients"
    if "" in given or is_step != ("grads" in given) or {"params", "opt_state", "tx"} & set(given):
        raise NotKnownError(f"`{code_of(call)}` changes more than NNX does in one step")
    if not isinstance(func.value, cst.Name) or not places.runs_once(call):
        raise NotKnownError(f"`{code_of(func.value)}` changes in the middle of an expression")
    check_old(func.value, call, analysis, places)
    fields = tuple(a for name, a in given.items() if name != "grads" and name not in collections)
    grads = given["grads"].value if is_step else None
    alone = assigning(call, func.value.value, places)
    return Update(call, func.value, grads, fields, alone)


def assigning(call: cst.Call, name: str, places: Places) -> cst.CSTNode | None:
    """Return the statement of a call, if all it does is to give a name the changed state."""
    match places.parent(call):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=target))]) if (
            target == name
        ):
            return places.statement(call)
    return None


def check_old(state: cst.Name, call: cst.Call, analysis: Analysis, places: Places) -> None:
    """Raise where a state is read after a call changed it: in NNX it is the same object.

    Args:
        state: The state that a call takes.
        call: The call, which gives the state after.
        analysis: The file.
        places: Where its nodes stand.
    """
    statement = places.statement(call)
    if statement is None or state.value in _targets(statement):
        return
    home = binder_of(state, places)
    around = next(
        (n for n in places.around(call) if isinstance(n, (cst.For, cst.While, cst.Lambda))), None
    )
    is_again = around is not None and (home is None or home in places.around(around))
    later = [
        node
        for node in same_variable(state.value, home, analysis.tree, places)
        if places.is_before(call, node) and statement not in places.around(node)
    ]
    is_returned = isinstance(_simple(statement), cst.Return)
    if (later or is_again) and not is_returned:
        raise NotKnownError(f"`{state.value}` is still used after it changed")


def _simple(statement: cst.CSTNode) -> cst.CSTNode | None:
    match statement:
        case cst.SimpleStatementLine(body=[only]):
            return only
    return None


def _targets(statement: cst.CSTNode) -> set[str]:
    """Return the names that a statement binds."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Assign(targets=targets)]):
            return {
                node.value
                for target in targets
                for node in descendants(target.target)
                if isinstance(node, cst.Name)
            }
    return set()


def check_calls(program: Program) -> None:
    """Raise where a function of the program gives a new state and the old one is used again."""
    for call in program.calls():
        values = call.analysis.values
        if not holds_state(values.get(call.node, UNKNOWN)):
            continue
        for arg in call.node.args:
            if isinstance(arg.value, cst.Name) and is_changing(values.get(arg.value, UNKNOWN)):
                check_old(arg.value, call.node, call.analysis, program.places(call.analysis))
