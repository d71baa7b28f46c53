"""What changes in files when functions become methods."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants


@dataclass
class Edits:
    """What changes in a file.

    Attributes:
        names: The expressions that refer to methods now, and how.
        given: The calls whose first argument was the object.
        methods: The methods that classes get.
        imports: The imports that the file needs.
        adopted: The functions that are methods of its classes now.
        dropped: The statements that go.
        unimported: The names that the file does not import any more.
        statements: What is written in place of statements.
        expressions: What is written in place of calls.
    """

    names: dict[cst.CSTNode, cst.Attribute | cst.Name] = field(default_factory=dict)
    given: set[cst.CSTNode] = field(default_factory=set)
    methods: dict[cst.CSTNode, list[cst.FunctionDef]] = field(default_factory=dict)
    imports: list[str] = field(default_factory=list)
    adopted: set[cst.CSTNode] = field(default_factory=set)
    dropped: set[cst.CSTNode] = field(default_factory=set)
    unimported: set[str] = field(default_factory=set)
    statements: dict[cst.CSTNode, list[cst.BaseStatement]] = field(default_factory=dict)
    expressions: dict[cst.CSTNode, cst.BaseExpression] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        changes = (self.methods, self.dropped, self.unimported, self.statements, self.expressions)
        return not any(changes)

    def calls_written(self) -> set[cst.CSTNode]:
        """Return what is below the statements and calls that are written anew."""
        return {
            below for one in (*self.statements, *self.expressions) for below in descendants(one)
        }


class Rewriting(cst.CSTTransformer):
    """Writes the changes of a file.

    Args:
        edits: The changes.
    """

    def __init__(self, edits: Edits) -> None:
        super().__init__()
        self._edits = edits

    def on_leave(  # type: ignore[override]  # one handler for all kinds
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        """Write a node."""
        edits = self._edits
        if original_node in edits.statements:
            lines = edits.statements[original_node]
            above = getattr(original_node, "leading_lines", ())
            if lines and above:
                lines = [lines[0].with_changes(leading_lines=above), *lines[1:]]
            return cst.FlattenSentinel(lines) if lines else cst.RemoveFromParent()
        if original_node in edits.expressions:
            return edits.expressions[original_node]
        if original_node in edits.names:
            return edits.names[original_node]
        if original_node in edits.dropped:
            return cst.RemoveFromParent()
        if original_node in edits.given and isinstance(updated_node, cst.Call):
            return updated_node.with_changes(args=updated_node.args[1:])
        methods = edits.methods.get(original_node)
        if methods and isinstance(updated_node, cst.ClassDef):
            body = updated_node.body
            return updated_node.with_changes(body=body.with_changes(body=[*body.body, *methods]))
        return updated_node


def rewritten(tree: cst.Module, edits: Edits) -> cst.Module:
    """Return a file with its changes."""
    after = tree.visit(Rewriting(edits))
    body = [one for one in (_without(one, edits.unimported) for one in after.body) if one]
    if edits.imports:
        place = 0
        for number, one in enumerate(body):
            if isinstance(one, cst.ClassDef | cst.FunctionDef):
                break
            if any(
                isinstance(each, cst.Import | cst.ImportFrom)
                for each in getattr(one, "body", ()) or ()
            ):
                place = number + 1
        lines = [cst.parse_statement(text) for text in edits.imports]
        body[place:place] = lines
    return after.with_changes(body=body)


def _without(
    statement: cst.BaseStatement | cst.SimpleStatementLine, names: set[str]
) -> cst.BaseStatement | None:
    """Return a statement without the import of some names; None where nothing is left."""
    if not names or not isinstance(statement, cst.SimpleStatementLine):
        return statement
    body: list[cst.BaseSmallStatement] = []
    for one in statement.body:
        if not isinstance(one, cst.ImportFrom) or isinstance(one.names, cst.ImportStar):
            body.append(one)
            continue
        kept = [alias for alias in one.names if _local(alias) not in names]
        if len(kept) == len(one.names):
            body.append(one)
        elif kept:
            last = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            body.append(one.with_changes(names=[*kept[:-1], last]))
    return statement.with_changes(body=body) if body else None


def _local(alias: cst.ImportAlias) -> str:
    node = alias.asname.name if alias.asname is not None else alias.name
    return code_of(node).strip()
