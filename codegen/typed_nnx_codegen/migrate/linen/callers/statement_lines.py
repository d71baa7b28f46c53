"""Puts lines above statements, and takes statements away."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.linen.callers.caller_plan import CallerPlan


def around_statement(
    original: cst.CSTNode, after: cst.CSTNode, plan: CallerPlan
) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
    """Return a statement as it is written, with the lines that belong above it.

    Args:
        original: The node before.
        after: The node, rewritten.
        plan: What is written.
    """
    lines = plan.before.get(original)
    if not lines:
        return cst.RemoveFromParent() if original in plan.removed else after
    above: list[cst.CSTNode] = [cst.parse_statement(line) for line in lines]
    leading = tuple(getattr(after, "leading_lines", ()))
    above[0] = above[0].with_changes(leading_lines=leading)
    if original in plan.removed:
        return cst.FlattenSentinel(above)
    return cst.FlattenSentinel([*above, after.with_changes(leading_lines=())])
