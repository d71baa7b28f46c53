"""``nnx-lost-update``: a changed State that is never written back."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from mypy import nodes
from mypy.nodes import AssignmentStmt, CallExpr, ExpressionStmt, FuncDef, MypyFile, NameExpr
from mypy.types import Instance, ProperType, get_proper_type

from typed_nnx_mypy.call import Call
from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.errorcodes import LOST_UPDATE
from typed_nnx_mypy.models.kinds import is_pytree, short_name
from typed_nnx_mypy.models.states import is_state, view_of
from typed_nnx_mypy.registry import on_call
from typed_nnx_mypy.syntax.children import descendants
from typed_nnx_mypy.syntax.purity import is_pure
from typed_nnx_mypy.syntax.uses import is_never_used, statements_around

# What mappings are called, and where they take the tree: the first argument is the function.
_MAPPINGS: Final = ("jax.tree.map", "jax.tree.map_with_path", "map_state", "map")
# What makes a copy for another use than to change the model, and the same as methods.
_COPIES: Final = ("filter_state", "merge_state", "clone")
_METHODS: Final = ("State.filter", "State.merge")
# Lines that begin a cell of a notebook kept as Python.
_CELLS: Final = ("# %%", "#%%", "# In[", "# COMMAND ----------", "# +")


@on_call(*_MAPPINGS)
def mapped_copy_is_used(call: Call) -> None:
    """Report a mapped State or Module that nothing uses: the map makes a copy."""
    function, tree = call.argument("f", 0), call.argument("tree", 1)
    if function is None or tree is None or not _is_changed_by(function.expression, call):
        return
    if _is_part_of_model(tree.type):
        _copy_is_used(call, tree.type)


@on_call("State.map")
def state_map_is_used(call: Call) -> None:
    """Report the same of the method ``state.map(f)``."""
    function = call.argument("f", 0)
    if function is None or call.receiver is None or not _is_changed_by(function.expression, call):
        return
    _copy_is_used(call, get_proper_type(call.receiver))


@on_call(*_COPIES)
def copy_is_used(call: Call) -> None:
    """Report copies of a State or Module that are made for nothing."""
    tree = call.positional[0] if call.positional else None
    if call.keyword("graph") is not None:
        return  # it asks whether the object is a tree
    if tree is not None and _is_part_of_model(tree.type):
        _result_is_used(call, tree.type)


@on_call(*_METHODS)
def method_copy_is_used(call: Call) -> None:
    """Report the same of the methods of a State."""
    if call.receiver is not None:
        _result_is_used(call, get_proper_type(call.receiver))


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
        if isinstance(each, CallExpr) and _is_apply_updates(each):
            tree = each.args[0]
            if isinstance(tree, NameExpr) and tree.name in names:
                _report_unused(call, each, "optax.apply_updates", "the State")


def _is_apply_updates(call: CallExpr) -> bool:
    match call.callee:
        case nodes.MemberExpr(name="apply_updates", expr=NameExpr(name="optax", node=owner)):
            return isinstance(owner, MypyFile | nodes.Var) and len(call.args) == 2
        case _:
            return False


# -- what is changed --------------------------------------------------------------------------


def _is_changed_by(function: nodes.Expression, call: Call) -> bool:
    """Tell whether a mapping does nothing but make a copy."""
    leaf = call.keyword("is_leaf")
    if call.has_stars or not (leaf is None or is_pure(leaf.expression, call.checker)):
        return False
    return is_pure(function, call.checker)


def _is_part_of_model(found: ProperType) -> bool:
    return isinstance(found, Instance) and (is_state(found.type) or is_pytree(found.type))


# -- whether it is used -----------------------------------------------------------------------


def _copy_is_used(call: Call, found: ProperType) -> None:
    if call.expression is not None:
        _report_unused(call, call.expression, call.name, _in_words(found))


def _result_is_used(call: Call, found: ProperType) -> None:
    node = call.expression
    if node is not None and isinstance(call.checker.parent(node), ExpressionStmt):
        _copy_is_used(call, found)


def _report_unused(call: Call, node: CallExpr, name: str, words: str) -> None:
    statement = call.checker.parent(node)
    found = f"{name}: the result is a new copy of {words}"
    if isinstance(statement, ExpressionStmt):
        if _is_on_purpose(statement, call.checker):
            return
        fix = f"Fix: nnx.update(model, {name}(...))"
        if name in (*_COPIES, *_METHODS):
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


def _in_words(found: ProperType) -> str:
    view = view_of(found)
    if view is not None:
        return f"the State of {short_name(view.model)}"
    if isinstance(found, Instance) and is_state(found.type):
        return "the State"
    return short_name(found)


def _is_on_purpose(statement: ExpressionStmt, checker: Checker) -> bool:
    """Tell whether a result may be discarded because only errors or the display of it matter.

    In tests, under ``with`` and ``try``, and in cells of a notebook.
    """
    function = checker.function_around(statement)
    if _is_test(function, checker.tree):
        return True
    if any(
        isinstance(each, nodes.WithStmt | nodes.TryStmt)
        for each in statements_around(statement, checker)
    ):
        return True
    return function is None and _is_notebook(checker.tree)


def _is_test(function: FuncDef | nodes.LambdaExpr | None, tree: MypyFile) -> bool:
    module = tree.fullname.rpartition(".")[2]
    if module.startswith("test_") or module.endswith("_test") or module == "conftest":
        return True
    return isinstance(function, FuncDef) and function.name.startswith("test")


def _is_notebook(tree: MypyFile) -> bool:
    try:
        text = Path(tree.path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return True
    return any(line.startswith(_CELLS) for line in text.splitlines())
