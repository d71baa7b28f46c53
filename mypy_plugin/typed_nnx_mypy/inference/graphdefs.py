"""The model that a GraphDef is of, where the signature of `graphdef` leaves it open."""

from __future__ import annotations

from typing import Final

from mypy.nodes import AssignmentStmt, CallExpr, Expression, MemberExpr, NameExpr, RefExpr, Var
from mypy.types import AnyType, Instance, Type, get_proper_type

from typed_nnx_codegen.facts.assigned import assigned_once
from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.kinds import Kind, is_base_class, kind_of
from typed_nnx_codegen.facts.names import is_named
from typed_nnx_mypy.call import Call
from typed_nnx_mypy.registry import infers
from typed_nnx_mypy.syntax.uses import function_of_statement

_METHODS: Final = ("apply", "merge")


@infers("graphdef")
def graphdef_of_model(call: Call) -> Type | None:
    """Return a GraphDef of the model, as that of `split` is, where flax says ``GraphDef[Any]``.

    GraphDefs of two classes do not fit each other for mypy. So this is done only where the result
    goes nowhere but into `merge`; code that mypy takes today must stay right.
    """
    node = call.argument("node", 0)
    found = get_proper_type(call.result)
    if node is None or call.expression is None or not isinstance(found, Instance):
        return None
    if len(found.args) != 1 or not isinstance(get_proper_type(found.args[0]), AnyType):
        return None
    if kind_of(node.type) not in (Kind.PYTREE, Kind.LIST, Kind.DICT):
        return None
    if isinstance(node.type, Instance) and is_base_class(node.type.type):
        return None
    if not _is_only_merged(call.expression, call.checker):
        return None
    return Instance(found.type, [node.type])


def _is_only_merged(graphdef: CallExpr, checker: Checker) -> bool:
    """Tell whether a GraphDef is merged where it is made, or by its local name and nothing else."""
    if _is_merged(graphdef, checker):
        return True
    match checker.parent(graphdef):
        case AssignmentStmt(lvalues=[NameExpr(node=Var() as variable) as target]) as statement:
            pass
        case _:
            return False
    function = function_of_statement(statement, checker)
    if function is None or not target.is_inferred_def:
        return False
    if assigned_once(variable, checker) is not graphdef:
        return False
    return all(
        _is_merged(each, checker)
        for each in checker.syntax.nodes
        if isinstance(each, NameExpr) and each.node is variable and each is not target
    )


def _is_merged(graphdef: Expression, checker: Checker) -> bool:
    match checker.parent(graphdef):
        case CallExpr(callee=RefExpr(fullname=fullname), args=[first, *_]) if first is graphdef:
            return is_named(fullname, "merge")
        case MemberExpr(name=method):
            return method in _METHODS
        case _:
            return False
