"""The nodes inside a node and around it: mypy's own visitors cannot be subclassed in Python."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from mypy import nodes
from mypy import patterns as matched
from mypy.nodes import MypyFile, Node

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
_LARGE: Final = (nodes.FuncDef, nodes.Block)
_walked: Final[dict[Node, tuple[list[Node], list[Node]]]] = {}


def children(node: Node) -> list[Node]:
    """Return the nodes that stand directly in `node`, in the order of the source."""
    if type(node) is nodes.CallExpr:  # these two are most of all
        return [node.callee, *node.args]
    if type(node) is nodes.MemberExpr:
        return [node.expr]
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
        return walk(children(node))
    inside = children(node)
    known = _walked.get(node)
    # The daemon puts new statements into the same file object.
    if known is None or known[0] != inside:
        if len(_walked) >= _KEPT:
            _walked.clear()
        known = _walked[node] = (inside, walk(inside))
    return known[1]


def forget() -> None:
    """Let go of the trees of an earlier run, in a process that runs mypy more than once."""
    _walked.clear()
    _LAST.clear()


def walk(first: list[Node], but: tuple[type[Node], ...] = ()) -> list[Node]:
    """Return nodes with all nodes in them, at any depth, in the order of the source.

    Args:
        first: The nodes.
        but: What is left out with all that is in it.
    """
    found: list[Node] = []
    open_nodes, of_classes = first[::-1], _BY_CLASS
    while open_nodes:
        node = open_nodes.pop()
        if but and isinstance(node, but):
            continue
        found.append(node)
        if type(node) in of_classes:
            inside = children(node)
            inside.reverse()
            open_nodes += inside
    return found


class Tree:
    """The nodes of a file and what they stand in, by one walk.

    Attributes:
        file: The file.
        nodes: All nodes, at any depth, in the order of the source.
        parents: The node that each stands in.
        functions: The innermost function around nodes that were asked for.
    """

    def __init__(self, file: MypyFile) -> None:
        self.file: Final = file
        self.nodes: Final[list[Node]] = []
        self.parents: Final[dict[Node, Node]] = {}
        self.functions: Final[dict[Node, nodes.FuncDef | nodes.LambdaExpr | None]] = {}
        open_nodes: list[Node] = [file]
        found, parents, of_classes = self.nodes, self.parents, _BY_CLASS
        while open_nodes:
            node = open_nodes.pop()
            found.append(node)
            if type(node) in of_classes:
                inside = children(node)
                for each in inside:
                    parents[each] = node
                inside.reverse()
                open_nodes += inside
        del found[0]

    @cached_property
    def of_lines(self) -> dict[int, list[Node]]:
        """The nodes by the line in which they begin."""
        found: dict[int, list[Node]] = {}
        for node in self.nodes:
            found.setdefault(node.line, []).append(node)
        return found


# The file that was asked about last, and the round: the daemon gives it new statements.
_LAST: Final[list[tuple[Tree, object]]] = []


def tree_of(file: MypyFile, round_: object) -> Tree:
    """Return the nodes of the file that is being checked."""
    if not _LAST or _LAST[0][0].file is not file or _LAST[0][1] is not round_:
        _LAST[:] = [(Tree(file), round_)]
    return _LAST[0][0]
