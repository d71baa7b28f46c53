"""``nnx-lost-update`` for arguments: a function under a jax transform that changes one and keeps it.

jax gives the function a copy of each Module, so the change is gone when it returns; nothing raises.
"""

from __future__ import annotations

from typing import Final

from mypy import nodes
from mypy.nodes import CallExpr, Expression, FuncDef, LambdaExpr, MemberExpr, NameExpr, Node
from mypy.types import CallableType, Instance, ProperType, TupleType, get_proper_type

from typed_nnx_mypy.call import Call
from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.checks.jax_mutation import is_certain
from typed_nnx_mypy.errorcodes import LOST_UPDATE
from typed_nnx_mypy.models.kinds import Kind, is_rngs, kind_of
from typed_nnx_mypy.models.mutations import Mutation, Outer, mutations
from typed_nnx_mypy.names import PARTIALS
from typed_nnx_mypy.registry import on_call
from typed_nnx_mypy.syntax.children import descendants
from typed_nnx_mypy.syntax.parameters import definition_of, is_of_file
from typed_nnx_mypy.syntax.targets import own_nodes
from typed_nnx_mypy.syntax.transforms import Transform, transform_of
from typed_nnx_mypy.syntax.uses import (
    may_be_used_elsewhere,
    occurrences,
    statements_around,
    targets_of,
)

# The transforms whose function runs for what it returns, with the NNX transform of the same use.
_SUCCESSORS: Final = {
    "jax.checkpoint": "nnx.remat",
    "jax.grad": "nnx.grad",
    "jax.jit": "nnx.jit",
    "jax.pmap": "nnx.pmap",
    "jax.shard_map": "nnx.shard_map",
    "jax.value_and_grad": "nnx.value_and_grad",
    "jax.vmap": "nnx.vmap",
}
_STATIC: Final = ("static_argnums", "static_argnames", "static_broadcasted_argnums")
_VALUES: Final = frozenset(
    {"jax.Array", "jax._src.basearray.Array", "builtins.float", "builtins.int"}
)


@on_call(*_SUCCESSORS, *PARTIALS)
def changed_arguments_are_returned(call: Call) -> None:
    """Report changes of parameters that nothing in the function uses after that."""
    transform = transform_of(call, *_SUCCESSORS)
    if transform is None or transform.has_stars:
        return
    checker = call.checker
    if transform.given is not None:
        function = definition_of(transform.given, checker)
    else:
        function = transform.function.definition if transform.function is not None else None
    if not isinstance(function, FuncDef) or not is_of_file(function, checker):
        return
    names = _traced(function, transform)
    inside = _Parameters(function, transform.given, checker, names)
    for node in own_nodes(function):
        for found in mutations(node, inside.type_of):
            path = inside.path(found.owner)
            root = path.partition(".")[0].partition("[")[0]
            if root in inside.names and _is_lost(found, node, root, inside, checker):
                _report(call, found, path, function, transform.name)


class _Parameters(Outer):
    """The parameters of a function, looked at as if they were from outside."""

    def __init__(
        self, function: FuncDef, given: Expression | None, checker: Checker, names: frozenset[str]
    ) -> None:
        super().__init__(function, given, checker)
        self.names: Final = names & self._bound  # a bound `self` is from outside
        self._bound -= self.names


def _traced(function: FuncDef, transform: Transform) -> frozenset[str]:
    """Return the names of parameters that jax traces and the function does not bind again."""
    names = [argument.variable.name for argument in function.arguments]
    static: set[str] = set()
    for option in _STATIC:
        given = transform.option(option)
        items = given.items if isinstance(given, nodes.TupleExpr | nodes.ListExpr) else [given]
        for item in items if given is not None else []:
            match item:
                case nodes.IntExpr(value=number) if number < len(names):
                    static.add(names[number])
                case nodes.StrExpr(value=name):
                    static.add(name)
                case _:
                    return frozenset()
    again = {target.name.rstrip("'") for node in own_nodes(function) for target in targets_of(node)}
    return frozenset(names) - static - again


def _is_lost(found: Mutation, node: Node, root: str, inside: _Parameters, checker: Checker) -> bool:
    """Tell whether surely nothing uses what a statement changes, in the function or after it."""
    function = inside.function
    if not isinstance(function, FuncDef) or not is_certain(found, function, checker):
        return False
    if is_rngs(found.type.type):  # streams that the caller makes anew for each call
        return False
    if any(
        isinstance(each, nodes.ForStmt | nodes.WhileStmt)
        for each in statements_around(node, checker)
    ):
        return False
    own = {node, *descendants(node)}
    mentioned = {n.name for n in own if isinstance(n, NameExpr) and _may_change(n, inside)}
    return not any(_is_used_after(name, node, own, function) for name in mentioned) and all(
        place in own or _is_only_read(place, inside, checker)
        for place in occurrences(root, function)
    )


def _may_change(place: NameExpr, inside: _Parameters) -> bool:
    found = inside.type_of(place)
    is_array = isinstance(found, Instance) and kind_of(found) is Kind.ARRAY
    return place.name in inside.names and not is_array


def _is_used_after(name: str, node: Node, own: set[Node], function: FuncDef) -> bool:
    if _in_functions_inside(name, function):
        return True
    below = False
    for each in descendants(function):
        below = below or each is node
        if below and each not in own and isinstance(each, NameExpr) and each.name == name:
            return True
    return False


def _in_functions_inside(name: str, function: FuncDef) -> bool:
    """Tell whether a function inside may use a name of the function, not one of its own."""
    inner = [each for each in descendants(function.body) if isinstance(each, FuncDef | LambdaExpr)]
    shadowed = {
        place
        for each in inner
        if any(argument.variable.name == name for argument in each.arguments)
        for place in occurrences(name, each.body)
    }
    if not shadowed:
        return may_be_used_elsewhere(name, function)
    return any(place not in shadowed for each in inner for place in occurrences(name, each.body))


def _is_only_read(place: NameExpr, inside: _Parameters, checker: Checker) -> bool:
    """Tell whether an occurrence of a name cannot make another name of the object or its parts."""
    around = next((e for e in checker.above(place) if isinstance(e, FuncDef | LambdaExpr)), None)
    if around is not inside.function:  # a parameter of a function inside, or it would be used later
        return True
    node: Expression = place
    while True:
        above = checker.parent(node)
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


def _returns_values(method: MemberExpr, inside: _Parameters) -> bool:
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


def _report(call: Call, found: Mutation, path: str, function: FuncDef, transform: str) -> None:
    what = f"{path}.{found.attribute}" if found.attribute else path
    root = path.partition(".")[0].partition("[")[0]
    call.report(
        LOST_UPDATE,
        f"{transform}: `{function.name}` changes `{what}` ({found.type.type.name}) of a copy of its "
        f"argument `{root}`, which is not used after this; the change is lost. Fix: use "
        f"{_SUCCESSORS[transform]}, or return the new state and write it back outside",
        found.node,
    )
