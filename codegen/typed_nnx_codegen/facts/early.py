"""The types of expressions that mypy has not checked yet, as far as declarations tell them."""

from __future__ import annotations

from collections.abc import Container

from mypy import nodes, types
from mypy.expandtype import expand_type_by_instance
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import CallExpr, Expression, MemberExpr, NameExpr, RefExpr, Var
from mypy.types import Instance, ProperType, get_proper_type
from mypy.typevars import fill_typevars, fill_typevars_with_any

from typed_nnx_codegen.facts.assigned import assigned_once, file_of, is_of_other
from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.kinds import arguments_at


def early_type(
    expression: Expression, checker: Checker, bound: Container[str] = ()
) -> ProperType | None:
    """Return the type of an expression, of a type variable its bound; None where nothing tells it.

    mypy checks functions in their order: of those below it knows what is declared, and this
    finds objects that are made of a class, and attributes and items of what is known. Of the names in
    `bound` it knows what mypy does.
    """
    known = said_type(checker.known_type(expression))
    if known is not None:
        return known
    match expression:
        case NameExpr(node=Var() as variable) if expression.name not in bound:
            return _of_variable(variable, expression, checker)
        case MemberExpr(expr=NameExpr(node=nodes.MypyFile()), node=Var() as variable):
            return said_type(variable.type)
        case MemberExpr(expr=inner, name=name):
            owner = early_type(inner, checker, bound)
            return attribute_type(owner, name) if isinstance(owner, Instance) else None
        case nodes.IndexExpr(base=inner):
            owner = early_type(inner, checker, bound)
            return item_type(owner) if isinstance(owner, Instance) else None
        case CallExpr(callee=RefExpr(node=nodes.TypeInfo() as info)):
            return fill_typevars_with_any(info)
        case CallExpr(callee=RefExpr(node=nodes.FuncDef(type=types.CallableType() as function))):
            return said_type(function.ret_type)
        case _:
            return None


def _of_variable(variable: Var, at: Expression, checker: Checker) -> ProperType | None:
    if variable.type is not None:
        return said_type(variable.type)
    if variable.is_self:  # of a method without annotations
        around = next((e for e in checker.above(at) if isinstance(e, nodes.ClassDef)), None)
        return get_proper_type(fill_typevars(around.info)) if around is not None else None
    value = assigned_once(variable, checker)
    return early_type(value, checker) if value is not None else None


def only_target(value: Expression, checker: Checker) -> Expression | None:
    """Return the variable or the attribute that a value is assigned to, if it is all that it gets."""
    statement = checker.parent(value)
    target = statement.lvalues[0] if isinstance(statement, nodes.AssignmentStmt) else None
    return target if target is not None and is_assigned_once(target, checker) else None


def is_assigned_once(target: Expression, checker: Checker) -> bool:
    """Tell whether the file assigns a variable, or an attribute of objects of a class, in one place."""
    file = file_of(checker)
    match target:
        case NameExpr(node=Var() as variable):
            return len(file.of_variable[variable]) == 1 and variable not in file.parameters
        case MemberExpr(expr=owner, name=name):
            of = early_type(owner, checker)
            owners = (each.owner for each in file.of_attribute.get(name, ()))
            return sum(each is not None and not is_of_other(each, of) for each in owners) == 1
        case _:
            return False


def depend_on_origin(expression: Expression, checker: Checker) -> None:
    """Have what is being checked checked again when what makes an object of elsewhere changes."""
    pending: list[Expression] = [expression] if checker.has_daemon else []
    seen: set[Var] = set()
    while pending:
        for each in (first := pending.pop(), *descendants(first)):
            if not isinstance(each, RefExpr) or each.node is None:
                continue
            if not isinstance(each.node, Var) or "." in each.node.fullname:
                checker.depend_on(each.fullname)
                continue
            function = checker.function_around(each)
            if isinstance(function, nodes.FuncDef):  # the variable may be a parameter of it
                checker.depend_on(function.fullname)
            value = assigned_once(each.node, checker) if each.node not in seen else None
            seen.add(each.node)
            pending += [value] if value is not None else []


def said_type(found: types.Type | None) -> ProperType | None:
    """Return a type that says something, of a type variable the bound; None for Any."""
    proper = get_proper_type(found)
    if isinstance(proper, types.TypeVarType):
        proper = get_proper_type(proper.upper_bound)
    return None if isinstance(proper, types.AnyType) else proper


def attribute_type(owner: Instance, name: str) -> ProperType | None:
    """Return the type that the class of an object gives to an attribute."""
    symbol = owner.type.get(name)
    node = symbol.node if symbol is not None else None
    if not isinstance(node, Var) or node.type is None or node.is_property:
        return None
    base = map_instance_to_supertype(owner, node.info)
    return said_type(expand_type_by_instance(node.type, base))


def item_type(owner: Instance) -> ProperType | None:
    """Return the type of what a List or a Dict holds."""
    arguments = arguments_at(owner, "List", "Dict")
    return said_type(arguments[-1]) if arguments else None
