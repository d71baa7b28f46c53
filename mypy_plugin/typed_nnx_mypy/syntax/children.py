"""The nodes inside a node: mypy's own visitors cannot be subclassed in Python."""

from __future__ import annotations

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


# What walks through whole functions and files is asked for again and again.
_KEPT: Final = 64
_LARGE: Final = (nodes.MypyFile, nodes.FuncDef, nodes.Block)
_walked: Final[dict[Node, tuple[list[Node], list[Node]]]] = {}


def children(node: Node) -> list[Node]:
    """Return the nodes that stand directly in `node`, in the order of the source."""
    found: list[Node] = []
    for name in _BY_CLASS.get(type(node), ()):
        value = getattr(node, name)
        if isinstance(value, list):
            for each in value:  # pyright: ignore[reportUnknownVariableType]  # of nodes, pairs, lists
                if isinstance(each, Node):
                    found.append(each)
                else:
                    _add(each, found)  # pyright: ignore[reportUnknownArgumentType]  # the same
        elif value is not None:
            _add(value, found)
    return found


def _add(value: object, found: list[Node]) -> None:
    if isinstance(value, Node):
        found.append(value)
    elif isinstance(value, list | tuple):
        for each in value:  # pyright: ignore[reportUnknownVariableType]  # nested lists of nodes
            _add(each, found)  # pyright: ignore[reportUnknownArgumentType]  # the same


def descendants(node: Node) -> list[Node]:
    """Return all nodes in `node`, at any depth, in the order of the source. Not to be changed."""
    if not isinstance(node, _LARGE):
        return _walk(children(node))
    inside = children(node)
    known = _walked.get(node)
    # The daemon puts new statements into the same file object.
    if known is None or known[0] != inside:
        if len(_walked) >= _KEPT:
            _walked.clear()
        known = _walked[node] = (inside, _walk(inside))
    return known[1]


def forget() -> None:
    """Let go of the trees of an earlier run, in a process that runs mypy more than once."""
    _walked.clear()


def _walk(first: list[Node]) -> list[Node]:
    found: list[Node] = []
    open_nodes = first[::-1]
    while open_nodes:
        node = open_nodes.pop()
        found.append(node)
        inside = children(node)
        if inside:
            open_nodes.extend(reversed(inside))
    return found
