"""States that are kept in one place of another file, of which mypy's cache has no tree.

Where a file assigns a variable just once, the type of the State says which variable that is. So
what other files know of it does not depend on whether mypy has read the file in the same run.
"""

from __future__ import annotations

from typing import Final

from mypy import nodes
from mypy.nodes import Expression, MemberExpr, NameExpr, Var
from mypy.types import Instance, LiteralType, TupleType, Type, get_proper_type

from typed_nnx_mypy.call import literal
from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.models.filter_encoding import entries_of, with_entries
from typed_nnx_mypy.models.states import has_entries
from typed_nnx_mypy.syntax.assigned import file_of

_HOME: Final = "__nnx_home__"


def at_home(found: Type | None, call: nodes.CallExpr | None, checker: Checker) -> Type | None:
    """Return the type of what a call returns, in which States say where alone they are kept."""
    statement = checker.parent(call) if call is not None else None
    match statement:
        case nodes.AssignmentStmt(lvalues=[target]) if (
            found is not None and statement.rvalue is call
        ):
            return _kept(found, target, checker)
        case _:
            return found


def _kept(found: Type, target: Expression, checker: Checker) -> Type:
    proper = get_proper_type(found)
    if isinstance(proper, TupleType) and isinstance(target, nodes.TupleExpr | nodes.ListExpr):
        if len(proper.items) != len(target.items):
            return found
        pairs = zip(proper.items, target.items, strict=True)
        return proper.copy_modified(items=[_kept(item, to, checker) for item, to in pairs])
    home = _only_home(target, checker)
    if not home or not isinstance(proper, Instance) or not has_entries(proper):
        return found
    name = LiteralType(home, Instance(proper.type.mro[-1], []))
    return with_entries(proper, {**entries_of(proper), _HOME: name})


def _only_home(target: Expression, checker: Checker) -> str:
    """Return the full name of a target that its file assigns nowhere else; empty if it does."""
    file = file_of(checker)
    match target:
        case NameExpr(node=Var() as variable):
            fullname = f"{checker.tree.fullname}.{target.name}"
            symbol = checker.tree.names.get(target.name)
            is_global = symbol is not None and symbol.node is variable
            is_only = len(file.of_variable[variable]) == 1
            return fullname if is_global and is_only and variable.fullname == fullname else ""
        case MemberExpr(node=Var() as variable) if variable.info:
            is_only = len(file.of_attribute[target.name]) == 1
            return f"{variable.info.fullname}.{target.name}" if is_only else ""
        case _:
            return ""


def is_at_home(expression: Expression, state: Instance, checker: Checker) -> bool:
    """Tell whether a name or an attribute is what its file assigns just once, and to this State."""
    home = literal(entries_of(state).get(_HOME))
    if home is None:
        return False
    match expression:
        case NameExpr(node=Var() as variable) | MemberExpr(node=Var() as variable) if (
            not variable.info
        ):
            return variable.fullname == home
        case MemberExpr(expr=base, name=name):
            owner = checker.known_type(base)
            # An object of a subclass may have another State there.
            return isinstance(owner, Instance) and f"{owner.type.fullname}.{name}" == home
        case _:
            return False
