"""Comments of statements that go: they stay, above what follows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of

# Comments that are about the line they stand in, and mean nothing anywhere else.
_PRAGMA: Final = re.compile(r"#\s*(type:|noqa|pylint|pytype|pyright|fmt:|ruff|pragma|isort|mypy)")


def comments_of(node: cst.CSTNode) -> list[str]:
    """Return the comments within a node, in order; not those about its lines, as `# noqa`."""
    found: list[str] = []
    # Few nodes have any, and to go through the layout of the others takes long.
    waiting = [node] if "#" in code_of(node) else []
    while waiting:
        one = waiting.pop()
        if isinstance(one, cst.Comment) and not _PRAGMA.match(one.value):
            found.append(one.value)
        waiting += reversed(one.children)
    return found


class _Gone(cst.Pass):
    """Is in the place of a statement that goes, below its comments."""


def left_of(node: cst.CSTNode) -> cst.SimpleStatementLine | cst.RemovalSentinel:
    """Return what stays of a statement that goes: its comments, for `with_left_comments` to place."""
    texts = comments_of(node) if isinstance(node, cst.SimpleStatementLine) else []
    return with_only(texts, node)


def with_only(
    texts: Sequence[str], node: cst.CSTNode
) -> cst.SimpleStatementLine | cst.RemovalSentinel:
    """Return what stays of a statement that goes.

    Args:
        texts: The comments that stay.
        node: The statement.
    """
    if not texts:
        return cst.RemoveFromParent()
    leading: Sequence[cst.EmptyLine] = getattr(node, "leading_lines", ())
    blank = [one for one in leading if one.comment is None][:1]
    lines = [cst.EmptyLine(comment=cst.Comment(text)) for text in texts]
    return cst.SimpleStatementLine([_Gone()], leading_lines=[*blank, *lines])


def _is_gone(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and isinstance(node.body[0], _Gone)


def with_left_comments(node: cst.CSTNode) -> cst.CSTNode:
    """Return a block in which comments of statements that went are above those that follow."""
    if not isinstance(node, cst.IndentedBlock | cst.Module):
        return node
    if not any(map(_is_gone, node.body)):
        return node
    body: list[cst.BaseStatement] = []
    waiting: list[cst.EmptyLine] = []
    for one in node.body:
        if _is_gone(one):
            waiting += getattr(one, "leading_lines", ())
        elif waiting:
            above: Sequence[cst.EmptyLine] = getattr(one, "leading_lines", ())
            body.append(one.with_changes(leading_lines=[*waiting, *above]))
            waiting = []
        else:
            body.append(one)
    changes: dict[str, object] = {"body": body}
    if waiting:
        changes["footer"] = [*waiting, *node.footer]
    return node.with_changes(**changes)
