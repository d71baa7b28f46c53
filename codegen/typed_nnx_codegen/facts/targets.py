"""Statements of functions, what they give values to, and which names a function binds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mypy import nodes
from mypy.nodes import Block, Expression, FuncDef, LambdaExpr, MemberExpr, NameExpr, Node, Statement
from mypy.patterns import AsPattern, MappingPattern, StarredPattern

from typed_nnx_codegen.facts.children import children, descendants, walk

# By dictionary, since this is asked of every node of a file.
BOUND_BY: Final[dict[type[Node], str]] = {
    nodes.OperatorAssignmentStmt: "lvalue",
    nodes.ForStmt: "index",
    nodes.GeneratorExpr: "indices",
    nodes.DictionaryComprehension: "indices",
    nodes.WithStmt: "target",
    nodes.DelStmt: "expr",
    nodes.TryStmt: "vars",
    AsPattern: "name",
    StarredPattern: "capture",
    MappingPattern: "rest",
}
_WRITTEN: Final[dict[type[Node], str]] = {
    nodes.AssignmentStmt: "lvalues",
    nodes.AssignmentExpr: "target",
}
_COMPOUND: Final = frozenset(
    {nodes.ForStmt, nodes.IfStmt, nodes.MatchStmt, nodes.TryStmt, nodes.WhileStmt, nodes.WithStmt}
)
_NAMING: Final = (
    {nodes.ClassDef, FuncDef, nodes.Argument, nodes.Import, nodes.ImportFrom}
    | BOUND_BY.keys()
    | _WRITTEN.keys()
)
_FUNCTIONS: Final = (nodes.Decorator, FuncDef, LambdaExpr, nodes.OverloadedFuncDef)
_DEFINITIONS: Final = (nodes.ClassDef, *_FUNCTIONS)


# -- targets ----------------------------------------------------------------------------------


def targets(node: Node) -> list[Expression]:
    """Return what a statement, an expression or a pattern gives values to."""
    return _targets(node, _WRITTEN) or _targets(node, BOUND_BY)


def unwritten_targets(node: Node) -> list[Expression]:
    """Return what a node gives values that are not written as such: all but assignments."""
    return _targets(node, BOUND_BY)


def _targets(node: Node, places: dict[type[Node], str]) -> list[Expression]:
    place = places.get(type(node))
    if place is None:
        return []
    value: Expression | list[Expression | None] | None = getattr(node, place)
    return [each for each in (value if isinstance(value, list) else [value]) if each is not None]


def parts(target: Expression) -> Iterator[Expression]:
    """Yield the single targets in one that may be a tuple or a list of them."""
    match target:
        case nodes.TupleExpr() | nodes.ListExpr():
            for item in target.items:
                yield from parts(item)
        case nodes.StarExpr():
            yield from parts(target.expr)
        case _:
            yield target


def single_targets(node: Node) -> list[Expression]:
    """Return what a node gives values to, one by one."""
    return [part for target in targets(node) for part in parts(target)]


def own_attributes(node: Node, self_name: str) -> list[str]:
    """Return the attributes of the object that a statement of its method assigns or deletes."""
    return [
        each.name
        for each in single_targets(node)
        if isinstance(each, MemberExpr) and is_attribute(each, self_name, each.name)
    ]


def is_attribute(node: Expression, self_name: str, name: str) -> bool:
    """Tell whether an expression is ``self.name``."""
    return (
        isinstance(node, MemberExpr)
        and node.name == name
        and isinstance(node.expr, NameExpr)
        and node.expr.name == self_name
    )


def is_same_target(one: Expression, other: Expression) -> bool:
    """Tell whether two targets are one variable, or attributes of one name."""
    match one, other:
        case NameExpr(), NameExpr():
            return one.node is other.node
        case MemberExpr(), MemberExpr():
            return one.name == other.name
        case _:
            return False


def root_of(target: Expression) -> Expression:
    """Return what stands at the front of ``name[...].x[...]``."""
    while isinstance(target, nodes.IndexExpr | MemberExpr):
        target = target.base if isinstance(target, nodes.IndexExpr) else target.expr
    return target


def is_self(expression: Expression) -> bool:
    """Tell whether an expression is the object that a method is called on."""
    return (
        isinstance(expression, NameExpr)
        and isinstance(expression.node, nodes.Var)
        and expression.node.is_self
    )


# -- functions --------------------------------------------------------------------------------


def own_nodes(function: FuncDef | LambdaExpr) -> list[Node]:
    """Return the nodes of a body, not those of functions and classes that are defined in it."""
    return walk(children(function.body), _DEFINITIONS)


def statements_of(block: Block) -> Iterator[Statement]:
    """Yield the statements of a block and of the blocks in it, not of functions or classes."""
    for statement in block.body:
        yield statement
        for inner in blocks_of(statement):
            yield from statements_of(inner)


def blocks_of(statement: Statement) -> list[Block]:
    """Return the blocks of a statement, not those of functions and classes."""
    if isinstance(statement, Block):
        return [statement]
    if type(statement) not in _COMPOUND:
        return []
    return [each for each in children(statement) if isinstance(each, Block)]


def bound_names(function: FuncDef | LambdaExpr) -> set[str]:
    """Return the names that a function may bind: parameters, targets, definitions, imports.

    Those of functions inside it count too, and names that it declares global or nonlocal.
    """
    found = {argument.variable.name for argument in function.arguments}
    for node in descendants(function.body):
        if type(node) in _NAMING:
            found.update(_names(node))
    return found


def _names(node: Node) -> Iterator[str]:
    match node:
        case nodes.ClassDef() | FuncDef():
            yield node.name
        case nodes.Argument():
            yield node.variable.name
        case nodes.Import():
            yield from ((alias or name).partition(".")[0] for name, alias in node.ids)
        case nodes.ImportFrom():
            yield from (alias or name for name, alias in node.names)
        case _:
            # mypy marks names that are defined again.
            named = (each for each in single_targets(node) if isinstance(each, NameExpr))
            yield from (each.name.rstrip("'") for each in named)


def argument_of(call: nodes.CallExpr, name: str, position: int) -> nodes.Expression | None:
    """Return what a call gives by a name or at a position; None where it surely gives nothing."""
    if name in call.arg_names:
        return call.args[call.arg_names.index(name)]
    before = call.arg_kinds[: position + 1]
    is_there = len(before) > position and all(kind is nodes.ARG_POS for kind in before)
    return call.args[position] if is_there else None
