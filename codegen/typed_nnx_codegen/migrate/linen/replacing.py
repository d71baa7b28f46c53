"""Code of nodes in which other nodes are written differently."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of


class Replacer(cst.CSTTransformer):
    """Writes other code for some nodes.

    Args:
        replacements: The code, by node.
    """

    def __init__(self, replacements: Mapping[cst.CSTNode, str]) -> None:
        super().__init__()
        self._replacements = replacements

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Do not go below what is replaced."""
        return node not in self._replacements

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        """Write a node."""
        code = self._replacements.get(original_node)
        if code is None:
            return updated_node
        return cst.parse_expression(code)  # type: ignore[return-value]  # expressions only


def code_with(node: cst.CSTNode, replacements: Mapping[cst.CSTNode, str]) -> str:
    """Return the code of a node in which others are written differently."""
    after = node.visit(Replacer(replacements))
    assert isinstance(after, cst.CSTNode)
    if getattr(after, "leading_lines", None) is not None:
        return code_of(after)
    return code_of(after)
