"""The nodes inside a node: mypy's own visitors cannot be subclassed in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mypy import nodes
from mypy import patterns as matched
from mypy.nodes import Node

_BY_CLASS: Final[dict[type[Node], tuple[str, ...]]] = {
    nodes.MypyFile: ("defs",),
    # statements
    nodes.AssertStmt: ("expr", "msg"),
    nodes.AssignmentStmt: ("lvalues", "rvalue"),
    nodes.Block: ("body",),
    nodes.ClassDef: ("decorators", "base_type_exprs", "metaclass", "keywords", "defs"),
    nodes.Decorator: ("original_decorators", "func"),
    nodes.DelStmt: ("expr",),
    nodes.ExpressionStmt: ("expr",),
    nodes.ForStmt: ("index", "expr", "body", "else_body"),
    nodes.FuncDef: ("arguments", "body"),
    nodes.IfStmt: ("expr", "body", "else_body"),
    nodes.MatchStmt: ("subject", "patterns", "guards", "bodies"),
    nodes.OperatorAssignmentStmt: ("lvalue", "rvalue"),
    nodes.OverloadedFuncDef: ("items", "impl"),
    nodes.RaiseStmt: ("expr", "from_expr"),
    nodes.ReturnStmt: ("expr",),
    nodes.TryStmt: ("body", "types", "vars", "handlers", "else_body", "finally_body"),
    nodes.TypeAliasStmt: ("name", "value"),
    nodes.WhileStmt: ("expr", "body", "else_body"),
    nodes.WithStmt: ("expr", "target", "body"),
    # expressions
    nodes.Argument: ("initializer",),
    nodes.AssertTypeExpr: ("expr",),
    nodes.AssignmentExpr: ("target", "value"),
    nodes.AwaitExpr: ("expr",),
    nodes.CallExpr: ("callee", "args"),
    nodes.CastExpr: ("expr",),
    nodes.ComparisonExpr: ("operands",),
    nodes.ConditionalExpr: ("cond", "if_expr", "else_expr"),
    nodes.DictExpr: ("items",),
    nodes.DictionaryComprehension: ("key", "value", "indices", "sequences", "condlists"),
    nodes.GeneratorExpr: ("left_expr", "indices", "sequences", "condlists"),
    nodes.IndexExpr: ("base", "index"),
    nodes.LambdaExpr: ("arguments", "body"),
    nodes.ListComprehension: ("generator",),
    nodes.ListExpr: ("items",),
    nodes.MemberExpr: ("expr",),
    nodes.OpExpr: ("left", "right"),
    nodes.RevealExpr: ("expr",),
    nodes.SetComprehension: ("generator",),
    nodes.SetExpr: ("items",),
    nodes.SliceExpr: ("begin_index", "end_index", "stride"),
    nodes.StarExpr: ("expr",),
    nodes.SuperExpr: ("call",),
    nodes.TemplateStrExpr: ("items",),
    nodes.TupleExpr: ("items",),
    nodes.TypeApplication: ("expr",),
    nodes.UnaryExpr: ("expr",),
    nodes.YieldExpr: ("expr",),
    nodes.YieldFromExpr: ("expr",),
    # patterns
    matched.AsPattern: ("pattern", "name"),
    matched.ClassPattern: ("class_ref", "positionals", "keyword_values"),
    matched.MappingPattern: ("keys", "values", "rest"),
    matched.OrPattern: ("patterns",),
    matched.SequencePattern: ("patterns",),
    matched.StarredPattern: ("capture",),
    matched.ValuePattern: ("expr",),
}


def children(node: Node) -> Iterator[Node]:
    """Yield the nodes that stand directly in `node`, in the order of the source."""
    for name in _BY_CLASS.get(type(node), ()):
        yield from _nodes(getattr(node, name))


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:  # pyright: ignore[reportUnknownVariableType]  # nested lists of nodes
            yield from _nodes(each)  # pyright: ignore[reportUnknownArgumentType]


def descendants(node: Node) -> Iterator[Node]:
    """Yield all nodes in `node`, at any depth, in the order of the source."""
    for child in children(node):
        yield child
        yield from descendants(child)
