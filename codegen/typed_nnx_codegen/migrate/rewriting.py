"""The one pass over a tree in which all rules rewrite it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import is_kind
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.findings import CHANGED, DECIDE
from typed_nnx_codegen.migrate.markers import EVERY, kept_codes, marked_codes, with_marks
from typed_nnx_codegen.migrate.quoted import AROUND_TYPES, QuotedTypes
from typed_nnx_codegen.migrate.registry import Rule

Rewritten = cst.CSTNode | cst.FlattenSentinel[cst.CSTNode] | cst.RemovalSentinel
Handler = Callable[[cst.CSTNode, cst.CSTNode], Rewritten]

# Nothing below them is code.
_LAYOUT: Final = (
    cst.BaseParenthesizableWhitespace,
    cst.Comma,
    cst.Comment,
    cst.EmptyLine,
    cst.Newline,
    cst.Semicolon,
    cst.TrailingWhitespace,
)
_SCOPED: Final = (cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.BaseComp)
# What can have a comment above it.
_STATEMENTS: Final = (
    cst.SimpleStatementLine,
    cst.BaseCompoundStatement,
    cst.Else,
    cst.ExceptHandler,
    cst.ExceptStarHandler,
    cst.Finally,
    cst.MatchCase,
)


@dataclass(frozen=True)
class Place:
    """Something that a rule did or left.

    Attributes:
        node: The node of the tree before.
        code: The rule.
        kind: ``changed`` or ``decide``.
        message: What is to decide; empty for ``changed``.
        after: The node after; None for ``decide``.
    """

    node: cst.CSTNode
    code: str
    kind: str
    message: str = ""
    after: Rewritten | None = None


class Pass(cst.CSTTransformer):
    """Lets rules rewrite a tree.

    Args:
        file: The file.
        rules: The rules that apply.

    Attributes:
        places: What they did and left, in the order of the pass.
    """

    def __init__(self, file: File, rules: Sequence[Rule]) -> None:
        super().__init__()
        tree = file.analysis.tree
        # libcst keeps comments above the first statement with the module.
        self._first = tree.body[0] if tree.body else None
        self._header = _last_paragraph(tree.header)
        self.places: list[Place] = []
        self._file = file
        self._handlers = _handlers(rules)
        self._marks: list[list[tuple[str, str]]] = [[]]
        self._kept: list[frozenset[str]] = [frozenset()]
        self._scopes = [file.scope]
        self._quoted = QuotedTypes(file)

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Enter a node; layout is passed over."""
        kind = type(node)
        if is_kind(kind, *_LAYOUT):
            return False
        if is_kind(kind, *_STATEMENTS):
            self._marks.append([])
            header = self._header if node is self._first else ()
            self._kept.append(self._kept[-1] | kept_codes(node, header))
        if is_kind(kind, *_SCOPED):
            scope = self._file.analysis.scopes.get(node, self._scopes[-1])
            self._scopes.append(scope)
            self._file.scope = scope
        if kind in AROUND_TYPES:
            self._quoted.enter(node)
        return True

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> Rewritten:  # type: ignore[override]  # a node of any type has rules
        """Let the rules for its type rewrite a node."""
        kind = type(original_node)
        if is_kind(kind, *_LAYOUT):
            return updated_node
        if is_kind(kind, *_SCOPED):
            self._scopes.pop()
            self._file.scope = self._scopes[-1]
        if kind in AROUND_TYPES:
            self._quoted.leave(original_node)
        if isinstance(original_node, cst.SimpleString):
            updated_node = self._in_quotes(original_node)
        result: Rewritten = updated_node
        for code, handler in self._handlers.get(kind, ()):
            if type(result) is not kind:
                break
            if code in self._kept[-1] or EVERY in self._kept[-1]:
                continue
            result = self._apply(code, handler, original_node, result)
        if is_kind(kind, *_STATEMENTS):
            self._kept.pop()
            header = self._header if original_node is self._first else ()
            return _marked(result, self._marks.pop(), header)
        return result

    def _in_quotes(self, node: cst.SimpleString) -> cst.CSTNode:
        """Let the rules rewrite a type in quotes; what they did is at the place of the string."""
        if not self._quoted.is_type(node):
            return node
        count = len(self.places)
        made = self._quoted.rewritten(node, lambda inner: inner.visit(self))
        inner, self.places[count:] = self.places[count:], []
        if not inner:
            self._quoted.stays()
        for place in inner:
            if made is not None or place.kind == DECIDE:
                after = made if place.kind == CHANGED else None
                self.places.append(Place(node, place.code, place.kind, place.message, after))
        return made or node

    def _apply(
        self, code: str, handler: Handler, original: cst.CSTNode, updated: cst.CSTNode
    ) -> Rewritten:
        self._file.decisions.clear()
        result = handler(original, updated)
        for node, message in self._file.decisions:
            self.places.append(Place(node, code, DECIDE, message))
            self._marks[-1].append((code, message))
        if result is not updated:
            self.places.append(Place(original, code, CHANGED, after=result))
        return result


def _handlers(rules: Sequence[Rule]) -> dict[type[cst.CSTNode], list[tuple[str, Handler]]]:
    found: dict[type[cst.CSTNode], list[tuple[str, Handler]]] = {}
    for rule in rules:
        for name in dir(rule):
            if name.startswith("leave_"):
                kind = getattr(cst, name.removeprefix("leave_"))
                found.setdefault(kind, []).append((rule.code, getattr(rule, name)))
    return found


def _marked(
    result: Rewritten, marks: Sequence[tuple[str, str]], header: Sequence[cst.EmptyLine]
) -> Rewritten:
    """Put markers above a statement, or above the first one that replaces it."""
    if not marks:
        return result
    if isinstance(result, cst.FlattenSentinel):
        first, *rest = result
        return cst.FlattenSentinel([_with_lines(first, marks, header), *rest])
    return _with_lines(result, marks, header) if isinstance(result, cst.CSTNode) else result


def _with_lines(
    node: cst.CSTNode, marks: Sequence[tuple[str, str]], header: Sequence[cst.EmptyLine]
) -> cst.CSTNode:
    lines = getattr(node, "leading_lines", None)
    if lines is None:
        return node
    return node.with_changes(leading_lines=with_marks(lines, marks, marked_codes(header)))


def _last_paragraph(lines: Sequence[cst.EmptyLine]) -> tuple[cst.EmptyLine, ...]:
    """Return the comments that stand directly above what follows."""
    last: list[cst.EmptyLine] = []
    for line in lines:
        last = [*last, line] if line.comment is not None else []
    return tuple(last)
