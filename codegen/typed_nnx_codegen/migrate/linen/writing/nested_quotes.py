"""Texts within f-strings: before Python 3.12 they cannot have the quotes of the f-string."""

from __future__ import annotations

import libcst as cst


class NestedQuotes(cst.CSTTransformer):
    """Gives the texts that were written into f-strings other quotes than those have."""

    def __init__(self) -> None:
        super().__init__()
        self._around: list[str] = []

    def visit_FormattedString(self, node: cst.FormattedString) -> bool:
        """Enter an f-string."""
        self._around.append(node.quote)
        return True

    def leave_FormattedString(
        self, original_node: cst.FormattedString, updated_node: cst.FormattedString
    ) -> cst.FormattedString:
        """Leave an f-string."""
        del original_node
        self._around.pop()
        return updated_node

    def leave_SimpleString(
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.SimpleString:
        """Write a text with the quotes that are free."""
        del original_node
        quote = updated_node.quote
        if not self._around or quote not in self._around:
            return updated_node
        free = [one for one in ("'", '"') if one not in self._around]
        text = updated_node.raw_value
        if not free or free[0] in text or "\\" in text:
            return updated_node
        return updated_node.with_changes(value=f"{updated_node.prefix}{free[0]}{text}{free[0]}")
