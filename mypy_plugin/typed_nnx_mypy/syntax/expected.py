"""Statements that are there to fail: in tests of errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from mypy.nodes import CallExpr, Context, Expression, MemberExpr, NameExpr, Node, TryStmt, WithStmt

if TYPE_CHECKING:
    from typed_nnx_mypy.checker import Checker

_RAISES: Final = frozenset({"assertRaises", "assertRaisesRegex", "raises", "suppress"})


def is_expected_to_fail(context: Context, checker: Checker) -> bool:
    """Tell whether something stands where an exception is caught or asked for."""
    if not isinstance(context, Node):
        return False
    above = list(checker.above(context))
    return asks_for_exception(above) or any(
        isinstance(node, TryStmt) and bool(node.handlers) for node in above
    )


def asks_for_exception(nodes: Iterable[Node]) -> bool:
    """Tell whether one of the statements is ``with pytest.raises(...):`` or alike."""
    return any(
        isinstance(node, WithStmt) and any(map(_asks_for_exception, node.expr)) for node in nodes
    )


def _asks_for_exception(expression: Expression) -> bool:
    callee = expression.callee if isinstance(expression, CallExpr) else None
    return isinstance(callee, NameExpr | MemberExpr) and callee.name in _RAISES
