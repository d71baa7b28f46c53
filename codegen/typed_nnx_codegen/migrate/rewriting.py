"""The one pass over a tree in which all rules rewrite it."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.name_lookup import has_name
from typed_nnx_codegen.migrate.analysis.syntax import code_fields, is_kind, is_node
from typed_nnx_codegen.migrate.analysis.values import NNX
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.findings import CHANGED, DECIDE
from typed_nnx_codegen.migrate.markers import EVERY, kept_codes, marked_codes, with_marks
from typed_nnx_codegen.migrate.quoted import AROUND_TYPES, QuotedTypes
from typed_nnx_codegen.migrate.registry import Rule

Rewritten = cst.CSTNode | cst.FlattenSentinel[cst.CSTNode]
Handler = Callable[[cst.CSTNode, cst.CSTNode], Rewritten]

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


class Pass:
    """Lets rules rewrite a tree.

    Args:
        file: The file.
        rules: The rules that apply.

    Attributes:
        places: What they did and left, in the order of the pass.
    """

    def __init__(self, file: File, rules: Sequence[Rule]) -> None:
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
        self._leftovers = Leftovers(file, rules)
        # For each statement around: the rules that did something in it, and older names within it.
        self._done: list[set[str]] = [set()]
        self._left: list[list[tuple[cst.CSTNode, Rule, str]]] = [[]]
        # Rules decide about places while they are gone through only.
        file.decisions.clear()

    def rewritten(self, tree: cst.Module) -> cst.Module:
        """Return a tree as the rules rewrite it; the tree itself where they change nothing."""
        after = self._visit(tree)
        assert isinstance(after, cst.Module)
        return after

    def _visit(self, node: cst.CSTNode) -> Rewritten:
        """Rewrite the parts of a node, then the node."""
        kind = type(node)
        is_statement, is_around = _is_statement(kind), _is_around(kind)
        if is_statement or is_around:
            self._enter(node, is_statement=is_statement)
        updated = _with_parts(node, self._visit)
        if is_around:
            self._leave(node)
        elif kind is cst.SimpleString:
            updated = self._in_quotes(cst.ensure_type(node, cst.SimpleString))
        elif kind is cst.Attribute or kind is cst.Name:
            rule = self._leftovers.rule_of(node)
            if rule is not None:
                self._left[-1].append((node, rule, self._leftovers.message(node, rule)))
        handlers = self._handlers.get(kind)
        result = self._by_rules(node, updated, handlers) if handlers else updated
        return self._with_marks(node, result) if is_statement else result

    def _enter(self, node: cst.CSTNode, *, is_statement: bool) -> None:
        if is_statement:
            self._marks.append([])
            self._done.append(set())
            self._left.append([])
            header = self._header if node is self._first else ()
            self._kept.append(self._kept[-1] | kept_codes(node, header))
        if is_kind(type(node), *_SCOPED):
            scope = self._file.analysis.scopes.get(node, self._scopes[-1])
            self._scopes.append(scope)
            self._file.scope = scope
        if type(node) in AROUND_TYPES:
            self._quoted.enter(node)

    def _leave(self, node: cst.CSTNode) -> None:
        if is_kind(type(node), *_SCOPED):
            self._scopes.pop()
            self._file.scope = self._scopes[-1]
        if type(node) in AROUND_TYPES:
            self._quoted.leave(node)

    def _by_rules(
        self, node: cst.CSTNode, updated: cst.CSTNode, handlers: Sequence[tuple[str, Handler]]
    ) -> Rewritten:
        """Let the rules for its type rewrite a node."""
        kind = type(node)
        result: Rewritten = updated
        kept = self._kept[-1]
        for code, handler in handlers:
            if not is_node(result) or type(result) is not kind:
                break
            if not kept or (code not in kept and EVERY not in kept):
                result = self._apply(code, handler, node, result)
        return result

    def _with_marks(self, node: cst.CSTNode, result: Rewritten) -> Rewritten:
        """Put what rules leave to a person at a statement above it."""
        self._mark_leftovers(self._left.pop(), self._done.pop() | self._kept.pop())
        header = self._header if node is self._first else ()
        return _marked(result, self._marks.pop(), header)

    def _mark_leftovers(
        self, left: Sequence[tuple[cst.CSTNode, Rule, str]], done: Set[str]
    ) -> None:
        """Mark older names in a statement that their rule did nothing about."""
        for node, rule, message in left:
            if rule.code not in done and EVERY not in done:
                self.places.append(Place(node, rule.code, DECIDE, message))
                self._marks[-1].append((rule.code, message))

    def _in_quotes(self, node: cst.SimpleString) -> cst.CSTNode:
        """Let the rules rewrite a type in quotes; what they did is at the place of the string."""
        if not self._quoted.is_type(node):
            return node
        count, left = len(self.places), len(self._left[-1])
        made = self._quoted.rewritten(node, self._visit)
        found = self._left[-1][left:]
        self._left[-1][left:] = [(node, rule, message) for _, rule, message in found]
        inner, self.places[count:] = self.places[count:], []
        if not inner and not found:
            self._quoted.stays()
        for place in inner:
            if made is not None or place.kind == DECIDE:
                after = made if place.kind == CHANGED else None
                self.places.append(Place(node, place.code, place.kind, place.message, after))
        return made or node

    def _apply(
        self, code: str, handler: Handler, original: cst.CSTNode, updated: cst.CSTNode
    ) -> Rewritten:
        result = handler(original, updated)
        if self._file.decisions or result is not updated:
            self._done[-1].add(code)
        if self._file.decisions:
            for node, message in self._file.decisions:
                self.places.append(Place(node, code, DECIDE, message))
                self._marks[-1].append((code, message))
            self._file.decisions.clear()
        if result is not updated:
            self.places.append(Place(original, code, CHANGED, after=result))
        return result


@cache
def _is_statement(kind: type[cst.CSTNode]) -> bool:
    return issubclass(kind, _STATEMENTS)


@cache
def _is_around(kind: type[cst.CSTNode]) -> bool:
    """Whether the pass has something to note where it goes into a node of a type."""
    return issubclass(kind, _SCOPED) or kind in AROUND_TYPES


def _with_parts(node: cst.CSTNode, rewrite: Callable[[cst.CSTNode], Rewritten]) -> cst.CSTNode:
    """Return a node with its parts rewritten; the node itself where none changes.

    libcst's own visitors build all nodes anew, which takes several times as long.
    """
    changes: dict[str, object] = {}
    for name in code_fields(type(node)):
        value: object = getattr(node, name)
        if value is None:
            continue
        if isinstance(value, (tuple, list)):
            parts = _rewritten_all(value, rewrite)
            if parts is not None:
                changes[name] = parts
        elif is_node(value):
            part = rewrite(value)
            if part is not value:
                changes[name] = part
    return node.with_changes(**changes) if changes else node


def _rewritten_all(
    nodes: Sequence[cst.CSTNode], rewrite: Callable[[cst.CSTNode], Rewritten]
) -> list[cst.CSTNode] | None:
    """Return nodes of one field rewritten; None where none changes."""
    made: list[cst.CSTNode] = []
    is_changed = False
    for node in nodes:
        result = rewrite(node)
        is_changed = is_changed or result is not node
        if isinstance(result, cst.FlattenSentinel):
            made.extend(result)
        else:
            assert isinstance(result, cst.CSTNode), "rules remove no nodes"
            made.append(result)
    return made if is_changed else None


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
    return _with_lines(result, marks, header)


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


# -- older names that are left ----------------------------------------------------------------------


class Leftovers:
    """Finds references to names that the target does not have and a rule is there for.

    Args:
        file: The file.
        rules: The rules that apply.
    """

    def __init__(self, file: File, rules: Sequence[Rule]) -> None:
        self._file = file
        self._rules = {
            f"{NNX}.{name}": rule
            for rule in rules
            for name in rule.gone
            if not has_name(file.target, name)
        }
        self._last = frozenset(name.rpartition(".")[2] for name in self._rules)

    def rule_of(self, node: cst.CSTNode) -> Rule | None:
        """Return the rule that a reference is for; None where the target has the name."""
        if isinstance(node, cst.Attribute) and node.attr.value not in self._last:
            return None
        return self._rules.get(self._file.name(node))

    def message(self, node: cst.CSTNode, rule: Rule) -> str:
        """Return what a marker at a reference says."""
        return rule.gone[self._file.name(node).removeprefix(f"{NNX}.")]
