"""What a file does with its States besides reading them, and so which reads are sure.

mypy compares types without what the plugin knows of a State, so a variable that gets States of two
models keeps the first. What a variable is known to be counts only where all its values agree.

Of another file mypy's cache has no tree. Where a file assigns a variable just once, the type of the
State says which variable that is. So what other files know of it does not depend on whether mypy has
read the file in the same run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from mypy import nodes, types
from mypy.nodes import CallExpr, Expression, IndexExpr, MemberExpr, NameExpr, Node, Var
from mypy.subtypes import is_same_type
from mypy.types import CallableType, Instance, ProperType, TupleType, Type, get_proper_type

from typed_nnx_codegen.facts.assigned import Value, assigned_once, file_of
from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.early import early_type, is_assigned_once
from typed_nnx_codegen.facts.filters import entries_of, with_entries
from typed_nnx_codegen.facts.kinds import literal
from typed_nnx_codegen.facts.names import name_of, runtime_of
from typed_nnx_codegen.facts.states import (
    StateView,
    declared_view_of,
    has_entries,
    is_state,
    view_of,
)
from typed_nnx_codegen.facts.targets import argument_of, is_self
from typed_nnx_codegen.facts.values import Display
from typed_nnx_mypy.reporter import Reporter

_DEEPEST: Final = 4
# Functions of a tree, by the name and the position of the tree.
_MAPPINGS: Final = {
    "jax.block_until_ready": ("x", 0),
    "jax.device_put": ("x", 0),
    "jax.lax.with_sharding_constraint": ("x", 0),
    "jax.tree.map": ("tree", 1),
    "jax.tree.map_with_path": ("tree", 1),
    "map_state": ("state", 1),
}


# -- what a State is --------------------------------------------------------------------------


def view_at(expression: Expression, found: ProperType, checker: Reporter) -> StateView | None:
    """Return what is known of the State that an expression is."""
    view = view_of(found)
    if view is None:
        return None
    if not _is_sure(expression, view, checker):
        return declared_view_of(found)
    # mypy keeps the first of two types that it takes for the same.
    values = _values_of_itself(expression, checker) if view.values is None else None
    return view if values is None else replace(view, values=values)


def is_sure(expression: Expression, view: StateView, checker: Reporter) -> bool:
    """Tell whether the State that an expression is can be of no other model, such as a subclass.

    That is so where all its values are seen, and where an annotation says it.
    """
    return _is_sure(expression, view, checker, takes_declared=True)


def _is_sure(
    expression: Expression,
    view: StateView,
    checker: Reporter,
    depth: int = 0,
    *,
    takes_declared: bool = False,
) -> bool:
    """Tell whether all values that an expression may have agree on what a type says."""
    match expression:
        case CallExpr():
            return _is_sure_call(expression, view, checker, depth)
        case MemberExpr() | IndexExpr():
            base = expression.expr if isinstance(expression, MemberExpr) else expression.base
            of_base = checker.known_type(base)
            above = view_of(of_base) if of_base is not None else None
            if above is not None:
                return _is_sure(base, above, checker, depth, takes_declared=takes_declared)
            if isinstance(of_base, TupleType) and isinstance(base, CallExpr):
                return _is_sure_call(base, view, checker, depth)
        case _:
            pass
    variable = expression.node if isinstance(expression, nodes.RefExpr) else None
    if takes_declared and isinstance(variable, Var) and not variable.is_inferred:
        return True
    values = values_of(expression, checker)
    if not values:
        return is_at_home(expression, view.instance, checker)
    # What is made of the name itself agrees where all else does; it may not be checked yet.
    values = [each for each in values if not _is_made_of_itself(each, expression)]
    return bool(values) and all(_agrees(each, view, checker, depth + 1) for each in values)


def _is_sure_call(call: CallExpr, view: StateView, checker: Reporter, depth: int) -> bool:
    """Tell whether a call returns the State that its type says: what it is given is sure, too."""
    if not has_entries(view.instance):
        return _returns_as_declared(call, checker)
    types = [(each, checker.known_type(each)) for each in call.args]
    given = [(each, view_of(found)) for each, found in types if found is not None]
    return all(
        view is None or not has_entries(view.instance) or _is_sure(each, view, checker, depth)
        for each, view in given
    )


def _agrees(value: Value, view: StateView, checker: Reporter, depth: int) -> bool:
    """Tell whether a value of a name is a State of the same model and filter."""
    found = value.type(checker)
    other = view_of(found) if found is not None else None
    if other is None or depth > _DEEPEST:
        return False
    if (other.model, other.filter) != (view.model, view.filter):
        return False
    inner = value.inner()
    match inner.value:
        case NameExpr() | MemberExpr() if inner.items:  # the name of a tuple
            rows = values_of(inner.value, checker)
            items = [Value(each.node, each.value, (*each.items, *inner.items)) for each in rows]
            return bool(items) and all(_agrees(each, view, checker, depth + 1) for each in items)
        case CallExpr():
            return _is_sure_call(inner.value, other, checker, depth)
        case NameExpr() | MemberExpr() | IndexExpr():
            return _is_sure(inner.value, other, checker, depth)
        case _:
            return has_entries(other.instance)


def _values_of_itself(expression: Expression, checker: Reporter) -> ProperType | None:
    """Return the type of the values that a name gets of itself, as of ``g = jax.tree.map(f, g)``.

    None where it gets none, Any where they are not known.
    """
    made = [each for each in values_of(expression, checker) if _is_made_of_itself(each, expression)]
    if not made:
        return None
    views = [view_of(found) for each in made if (found := each.type(checker)) is not None]
    values = [view.values for view in views if view is not None and view.values is not None]
    if len(values) == len(made) and all(is_same_type(each, values[0]) for each in values):
        return values[0]
    return types.AnyType(types.TypeOfAny.special_form)


def values_of(expression: Expression, checker: Reporter) -> list[Value]:
    """Return what the file assigns to a variable or an attribute before it is read."""
    match expression:
        case NameExpr(node=Var() as variable):
            return [
                each
                for each in file_of(checker).of_variable[variable]
                if not _comes_later(each, expression, checker)
            ]
        case MemberExpr():
            return file_of(checker).of_attribute[expression.name]
        case IndexExpr(base=NameExpr() as row, index=nodes.IntExpr(value=at)):
            rows = values_of(row, checker)
            return [Value(each.node, each.value, (*each.items, at)) for each in rows]
        case _:
            return []


def _is_made_of_itself(value: Value, name: Expression) -> bool:
    """Tell whether a value is a State with the keys of the name that it is assigned to."""
    tree = _mapped_tree(value.value) if not value.items else None
    match tree, name:
        case NameExpr(), NameExpr():
            return tree.node is name.node
        case MemberExpr(), MemberExpr():
            return tree.name == name.name  # all attributes of a name agree
        case _:
            return False


def _mapped_tree(value: Expression | None) -> Expression | None:
    """Return the tree of which a call returns another one with the same keys.

    ``jax.tree.map(f, params)`` has those of ``params``, whatever ``f`` is. optax has no types for
    mypy, so its function is known by how it is written.
    """
    if not isinstance(value, CallExpr) or any(kind.is_star() for kind in value.arg_kinds):
        return None
    match value.callee:
        case MemberExpr(name="apply_updates", expr=NameExpr(name="optax")):
            return argument_of(value, "params", 0)
        case nodes.RefExpr(fullname=fullname) if fullname:
            name = name_of(fullname)
            known = _MAPPINGS.get(name.public) if name is not None else None
            if known is None or "is_leaf" in value.arg_names:
                return None  # with is_leaf, a whole State may be a leaf
            return argument_of(value, *known)
        case MemberExpr(name="map", expr=tree):
            return tree
        case _:
            return None


def _comes_later(value: Value, access: Node, checker: Reporter) -> bool:
    """Tell whether an assignment runs after an access: below it, and in no loop around both."""
    assignment = value.node
    if assignment.line <= access.line and not value.has(access):
        return False
    around = list(checker.above(access))
    if checker.function_around(assignment) is not checker.function_around(access):
        return False
    return not any(
        isinstance(each, nodes.ForStmt | nodes.WhileStmt) and assignment in set(descendants(each))
        for each in around
    )


def _returns_as_declared(call: CallExpr, checker: Reporter) -> bool:
    """Tell whether what a call returns is declared, and not joined from what it is given."""
    callee = checker.known_type(call.callee)
    if isinstance(callee, Instance):
        return bool(runtime_of(callee.type.fullname))  # a transformed function
    return isinstance(callee, CallableType) and not callee.variables


# -- what is done to it -----------------------------------------------------------------------


def may_have(key: str | int, access: nodes.Context, checker: Reporter) -> bool:
    """Tell whether a key may be in a State although its model does not have it, or was tested."""
    if not isinstance(access, Node):
        return True
    file = file_of(checker)
    if checker.is_expected_to_fail(access):
        return True
    owners = [each.owner.expr for each in file.set_on(key) if each.owner is not None]
    owners += file.keys.get(key, ())
    if any(may_be(each, _is_state, checker) for each in owners):
        return True
    root = _root(access)
    return any(
        may_be(each, _is_state, checker) and (other == root or getattr(other, "is_argument", False))
        for each in file.computed
        for other in (_root(each),)
    )


def may_be(expression: Expression, is_so: Callable[[Instance], bool], checker: Reporter) -> bool:
    """Tell whether something that a file changes may be of some types: a State, a Dict."""
    node, found = getattr(expression, "node", None), early_type(expression, checker)
    if found is None:  # not checked yet, or not known; the object of a method is none of them
        is_module = isinstance(node, nodes.MypyFile)  # that of `nnx.update(model, state)`
        is_plain = isinstance(node, Var) and isinstance(assigned_once(node, checker), Display)
        return not (is_module or is_plain or is_self(expression))
    return isinstance(found, Instance) and is_so(found)


def _is_state(found: Instance) -> bool:
    return is_state(found.type)


def _root(node: Node) -> Var | str | None:
    """Return the variable, or the attribute of an object, that an expression begins with."""
    while isinstance(node, MemberExpr | IndexExpr):
        above = node.expr if isinstance(node, MemberExpr) else node.base
        if isinstance(node, MemberExpr) and is_self(above):
            return node.name
        node = above
    return node.node if isinstance(node, NameExpr) and isinstance(node.node, Var) else None


# -- where States are kept -----------------------------------------------------------------------


_HOME: Final = "__nnx_home__"


def at_home(found: Type | None, call: nodes.CallExpr | None, checker: Reporter) -> Type | None:
    """Return the type of what a call returns, in which States say where alone they are kept."""
    statement = checker.parent(call) if call is not None else None
    match statement:
        case nodes.AssignmentStmt(lvalues=[target]) if (
            found is not None and statement.rvalue is call
        ):
            return _kept(found, target, checker)
        case _:
            return found


def _kept(found: Type, target: Expression, checker: Reporter) -> Type:
    proper = get_proper_type(found)
    if isinstance(proper, TupleType) and isinstance(target, nodes.TupleExpr | nodes.ListExpr):
        if len(proper.items) != len(target.items):
            return found
        pairs = zip(proper.items, target.items, strict=True)
        return proper.copy_modified(items=[_kept(item, to, checker) for item, to in pairs])
    home = _only_home(target, checker)
    if not home or not isinstance(proper, Instance) or not has_entries(proper):
        return found
    return with_entries(proper, {**entries_of(proper), _HOME: home})


def _only_home(target: Expression, checker: Reporter) -> str:
    """Return the full name of a target that its file assigns nowhere else; empty if it does."""
    match target if is_assigned_once(target, checker) else None:
        case NameExpr(node=Var() as variable, name=name):
            fullname, symbol = f"{checker.tree.fullname}.{name}", checker.tree.names.get(name)
            is_global = symbol is not None and symbol.node is variable
            return fullname if is_global and variable.fullname == fullname else ""
        case MemberExpr(node=Var() as variable, name=name) if variable.info:
            return f"{variable.info.fullname}.{name}"
        case _:
            return ""


def is_at_home(expression: Expression, state: Instance, checker: Reporter) -> bool:
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
