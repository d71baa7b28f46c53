"""``nnx-lost-update`` for arguments: a function under a jax transform that changes one and keeps it.

jax gives the function a copy of each Module, so the change is gone when it returns; nothing raises.
"""

from __future__ import annotations

from typing import Final

from mypy import nodes
from mypy.nodes import CallExpr, Expression, ForStmt, FuncDef, MemberExpr, NameExpr, WhileStmt
from mypy.types import CallableType, Instance, ProperType, TupleType, get_proper_type

from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.kinds import ARRAY, Kind, is_rngs, kind_of
from typed_nnx_codegen.facts.targets import own_nodes
from typed_nnx_mypy.checks.jax_mutation import SUCCESSORS
from typed_nnx_mypy.checks.static_args import options_of
from typed_nnx_mypy.errorcodes import LOST_UPDATE
from typed_nnx_mypy.models.mutations import Mutation, Outer, mutations, outer_of
from typed_nnx_mypy.syntax.transforms import Transform, on_transform
from typed_nnx_mypy.syntax.uses import (
    may_be_read_after,
    occurrences,
    plain,
    statements_around,
    targets_of,
)

# The transforms whose function runs for what it returns.
_FOR_RESULTS: Final = (
    *("jax.checkpoint", "jax.grad", "jax.jit", "jax.pmap", "jax.shard_map"),
    *("jax.value_and_grad", "jax.vmap"),
)
_VALUES: Final = frozenset({"jax.Array", ARRAY, "builtins.float", "builtins.int"})


@on_transform(*_FOR_RESULTS)
def changed_arguments_are_returned(transform: Transform) -> None:
    """Report changes of parameters that nothing in the function uses after that."""
    # What a partial binds is no argument.
    if transform.has_stars or isinstance(transform.given, CallExpr):
        return
    inside = outer_of(transform.given, transform.function, transform.checker)
    if inside is None or not isinstance(inside.function, FuncDef):
        return
    names = inside.take_as_outer(_traced(inside.function, transform))
    for found in inside.changes():
        if found.root in names and _is_lost(found, inside.function, names, inside):
            transform.call.report(
                LOST_UPDATE,
                f"{transform.name}: `{inside.function.name}` changes {found.title} of a copy of its "
                f"argument `{found.root}`, which is not used after this; the change is lost. "
                f"Fix: use {SUCCESSORS[transform.name]}, or return the new state and write it "
                "back outside",
                found.node,
            )


def _traced(function: FuncDef, transform: Transform) -> set[str]:
    """Return the names of parameters that jax traces and the function does not bind again."""
    options = options_of(transform)
    if not options.is_complete:
        return set()
    names = {argument.variable.name for argument in function.arguments}
    static = {each.name for each in (*options.by_position, *options.by_name)}
    again = {plain(target.name) for node in own_nodes(function) for target in targets_of(node)}
    return names - static - again


def _is_lost(found: Mutation, function: FuncDef, names: set[str], inside: Outer) -> bool:
    """Tell whether surely nothing uses what a statement changes, in the function or after it."""
    node = found.statement
    if node is None or is_rngs(found.type.type):  # streams that the caller makes for each call
        return False
    if any(isinstance(e, ForStmt | WhileStmt) for e in statements_around(node, inside.checker)):
        return False
    own = {node, *descendants(node)}
    places = [n for n in own if isinstance(n, NameExpr) and n.name in names]
    types = [(each.name, inside.type_of(each)) for each in places]  # an array does not change
    mentioned = {name for name, of in types if of is None or kind_of(of) is not Kind.ARRAY}
    return not any(may_be_read_after(name, node, function) for name in mentioned) and all(
        place in own or _is_only_read(place, inside) for place in occurrences(found.root, function)
    )


def _is_only_read(place: NameExpr, inside: Outer) -> bool:
    """Tell whether an occurrence of a name cannot make another name of the object or its parts."""
    if inside.checker.function_around(place) is not inside.function:
        return True  # a parameter of a function inside, or it would be used later
    node: Expression = place
    while True:
        above = inside.checker.parent(node)
        match above:
            case MemberExpr():
                node = above
            case nodes.IndexExpr() if above.base is node:
                found = inside.type_of(node)
                if isinstance(found, Instance) and kind_of(found) is Kind.VARIABLE:
                    return True
                node = above
            case CallExpr() if above.callee is node:
                return not isinstance(node, MemberExpr) or _returns_values(node, inside)
            case CallExpr():
                return _gives_values(above)
            case nodes.OpExpr():
                return True
            case _:
                return False


def _returns_values(method: MemberExpr, inside: Outer) -> bool:
    owner = inside.type_of(method.expr)
    symbol = owner.type.get(method.name) if isinstance(owner, Instance) else None
    function = symbol.node if symbol is not None else None
    # What a change returns is nothing of the object.
    is_change = any(True for _ in mutations(CallExpr(method, [], [], []), inside.type_of))
    return is_change or (isinstance(function, FuncDef) and _is_of_values(function))


def _gives_values(call: CallExpr) -> bool:
    """Tell whether a call with the object as an argument surely returns no part of it."""
    match call.callee:
        case CallExpr():  # nnx.value_and_grad(loss)(model): a loss, and gradients of their own
            return True
        case MemberExpr(name="update"):  # an optimizer's
            return True
        case nodes.RefExpr(node=FuncDef() as function):
            return _is_of_values(function)
        case _:
            return False


def _is_of_values(function: FuncDef) -> bool:
    """Tell whether a function is declared to return numbers and arrays alone."""
    signature = function.type
    return isinstance(signature, CallableType) and _is_value(get_proper_type(signature.ret_type))


def _is_value(found: ProperType) -> bool:
    if isinstance(found, TupleType):
        return all(_is_value(get_proper_type(each)) for each in found.items)
    return isinstance(found, Instance) and found.type.fullname in _VALUES
