"""The nodes inside a node and around it: mypy's own visitors cannot be subclassed in Python."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate, chain
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
    if isinstance(node, nodes.CallExpr):  # these are most of all
        return [node.callee, *node.args]
    if isinstance(node, nodes.MemberExpr):
        return [node.expr]
    if isinstance(node, nodes.AssignmentStmt):
        return [*node.lvalues, node.rvalue]
    if isinstance(node, nodes.Block):
        return [*node.body]
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
    """The nodes of a file and what they stand in. Each statement of it and of its classes is walked once.

    That is done when it is asked for: many files are asked about one statement only.

    Attributes:
        file: The file.
        functions: The innermost function around nodes that were asked for.
    """

    def __init__(self, file: MypyFile) -> None:
        self.file: Final = file
        self.functions: Final[dict[Node, nodes.FuncDef | nodes.LambdaExpr | None]] = {}
        self._parents: Final[dict[Node, Node]] = {}
        self._statements: Final[list[Node]] = []
        self._walked: Final[dict[Node, list[Node]]] = {}
        self._of_lines: Final[dict[Node, dict[int, list[Node]]]] = {}
        self._take(file)
        self._begins: Final = [*accumulate(map(_first_line, self._statements), max)]

    def _take(self, around: MypyFile | nodes.Block) -> None:
        for each in children(around):
            self._parents[each] = around
            self._statements.append(each)
            if isinstance(each, nodes.ClassDef):
                self._take(each.defs)

    @cached_property
    def nodes(self) -> list[Node]:
        """All nodes, at any depth, in the order of the source."""
        return [each for statement in self._statements for each in self._walk(statement)]

    def parent(self, node: Node) -> Node | None:
        """Return the node that `node` stands in; None for the file and for what is not in it."""
        parents = self._parents
        if node not in parents and node is not self.file:
            for each in chain(self._near(node.line), self._statements):
                if each not in self._walked:
                    self._walk(each)
                    if node in parents:
                        break
        return parents.get(node)

    def at(self, line: int) -> list[Node]:
        """Return the nodes that begin in a line, in the order of the source."""
        found: list[Node] = []
        for statement in self._near(line):
            if statement not in self._of_lines:
                of_lines = self._of_lines[statement] = {}
                for each in self._walk(statement):
                    of_lines.setdefault(each.line, []).append(each)
            found += self._of_lines[statement].get(line, ())
        return found

    def _near(self, line: int) -> list[Node]:
        """Return the statements that may have nodes in a line."""
        first = bisect_left(self._begins, line)
        return self._statements[max(first - 1, 0) : bisect_right(self._begins, line, first)]

    def _walk(self, statement: Node) -> list[Node]:
        """Return a statement with all nodes in it; of a class, without what its body holds."""
        if statement in self._walked:
            return self._walked[statement]
        found = self._walked[statement] = []
        body = statement.defs if isinstance(statement, nodes.ClassDef) else None
        open_nodes, parents, of_classes = [statement], self._parents, _BY_CLASS
        while open_nodes:
            node = open_nodes.pop()
            found.append(node)
            if type(node) in of_classes and node is not body:
                inside = children(node)
                for each in inside:
                    parents[each] = node
                inside.reverse()
                open_nodes += inside
        return found


def _first_line(statement: Node) -> int:
    decorators = statement.decorators if isinstance(statement, nodes.ClassDef) else ()
    return min([statement.line, *(each.line for each in decorators)])


# The file that was asked about last, and the round: the daemon gives it new statements.
_LAST: Final[list[tuple[Tree, object]]] = []


def tree_of(file: MypyFile, round_: object) -> Tree:
    """Return the nodes of the file that is being checked."""
    if not _LAST or _LAST[0][0].file is not file or _LAST[0][1] is not round_:
        _LAST[:] = [(Tree(file), round_)]
    return _LAST[0][0]
