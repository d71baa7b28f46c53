"""``nnx-lost-update``: a changed State that is never written back."""

from __future__ import annotations

from typing import Final

from mypy import nodes
from mypy.nodes import AssignmentStmt, CallExpr, ExpressionStmt, FuncDef, MypyFile, NameExpr
from mypy.types import Instance

from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.kinds import is_pytree, short_name
from typed_nnx_codegen.facts.states import is_state, view_of
from typed_nnx_mypy.call import Call
from typed_nnx_mypy.errorcodes import LOST_UPDATE
from typed_nnx_mypy.registry import on_call
from typed_nnx_mypy.syntax.purity import is_pure
from typed_nnx_mypy.syntax.uses import is_never_used, statements_around

_MAPPINGS: Final = ("jax.tree.map", "jax.tree.map_with_path", "map_state", "map", "State.map")
# What makes a copy for another use than to change the model.
_COPIES: Final = ("filter_state", "merge_state", "clone", "State.filter", "State.merge")


@on_call(*_MAPPINGS, *_COPIES)
def copy_is_used(call: Call) -> None:
    """Report a copy of a State or Module that nothing uses: what a mapping returns is one, too."""
    is_mapping = call.name in _MAPPINGS
    given = call.subject("tree", 1 if is_mapping else 0)
    tree = given.type if given is not None else None
    if call.expression is None or not isinstance(tree, Instance):
        return
    if not is_state(tree.type) and not is_pytree(tree.type):
        return
    view = view_of(tree)
    if view is not None and view.is_pure:
        return  # its values are no Variables
    if is_mapping:
        does_nothing_else = _only_maps(call)
    else:
        is_discarded = isinstance(call.checker.parent(call.expression), ExpressionStmt)
        # `clone(model, graph=False)` asks whether the object is a tree.
        does_nothing_else = is_discarded and call.keyword("graph") is None
    if does_nothing_else:
        _report_unused(call, call.expression, call.name, _in_words(tree))


@on_call("state", "split")
def updates_are_applied(call: Call) -> None:
    """Report ``optax.apply_updates`` of a State, whose result nothing uses.

    optax has no types for mypy, so its calls are found by the State that they are given.
    """
    node = call.expression
    statement = call.checker.parent(node) if node is not None else None
    function = call.checker.function_around(node) if node is not None else None
    if not isinstance(statement, AssignmentStmt) or not isinstance(function, FuncDef):
        return
    names = {
        each.name
        for target in statement.lvalues
        for each in (target, *descendants(target))
        if isinstance(each, NameExpr)
    }
    for each in descendants(function):
        match each:
            case CallExpr(
                callee=nodes.MemberExpr(
                    name="apply_updates", expr=NameExpr(name="optax", node=MypyFile() | nodes.Var())
                ),
                args=[NameExpr(name=tree), _],
            ) if tree in names:
                _report_unused(call, each, "optax.apply_updates", "the State")
            case _:
                pass


# -- what is changed --------------------------------------------------------------------------


def _only_maps(call: Call) -> bool:
    """Tell whether a mapping does nothing but make a copy."""
    function, leaf = call.argument("f", 0), call.keyword("is_leaf")
    if call.has_stars or function is None:
        return False
    return all(is_pure(e.expression, call.checker) for e in (function, leaf) if e is not None)


# -- whether it is used -----------------------------------------------------------------------


def _report_unused(call: Call, node: CallExpr, name: str, words: str) -> None:
    statement = call.checker.parent(node)
    found = f"{name}: the result is a new copy of {words}"
    if isinstance(statement, ExpressionStmt):
        if _is_on_purpose(statement, call.checker):
            return
        fix = f"Fix: nnx.update(model, {name}(...))"
        if name in _COPIES:
            fix = "Fix: use the result, or delete the call"
        message = f"{found} and nothing uses it; the model does not change. {fix}"
        call.report(LOST_UPDATE, message, node)
    elif isinstance(statement, AssignmentStmt) and is_never_used(statement, call.checker):
        target = statement.lvalues[0]
        assert isinstance(target, NameExpr)
        message = (
            f"{found} and `{target.name}` is not used after this; the model does not change. "
            f"Fix: write it back, nnx.update(model, {target.name})"
        )
        if not call.checker.is_expected_to_fail(statement):
            call.report(LOST_UPDATE, message, node)


def _in_words(found: Instance) -> str:
    view = view_of(found)
    if view is not None:
        return f"the State of {short_name(view.model)}"
    return "the State" if is_state(found.type) else short_name(found)


def _is_on_purpose(statement: ExpressionStmt, checker: Checker) -> bool:
    """Tell whether a result may be discarded because only errors or the display of it matter.

    In tests, under ``with`` and ``try``, and at the top level, as in a cell of a notebook.
    """
    function, module = checker.function_around(statement), checker.tree.name
    is_test = module.startswith("test_") or module.endswith("_test") or module == "conftest"
    return (
        is_test
        or (isinstance(function, FuncDef) and function.name.startswith("test"))
        or isinstance(checker.parent(statement), MypyFile)
        or any(
            isinstance(each, nodes.WithStmt | nodes.TryStmt)
            for each in statements_around(statement, checker)
        )
    )
