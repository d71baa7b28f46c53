"""f-strings with rewritten code in them: before Python 3.12 it cannot have their own quotes."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants

_OTHER: Final = {'"': "'", "'": '"'}


def with_free_quotes(before: cst.FormattedString, after: cst.FormattedString) -> cst.CSTNode:
    """Return a rewritten f-string whose new texts have the quotes that it does not have.

    Args:
        before: The f-string as it was; texts of it stay as they are.
        after: The f-string with its parts rewritten.
    """
    quote = before.end
    if quote not in _OTHER:
        return after
    known = {node for node in descendants(before) if isinstance(node, cst.SimpleString)}
    fresh = {
        node: _requoted(node, _OTHER[quote])
        for node in descendants(after)
        if isinstance(node, cst.SimpleString) and node.quote == quote and node not in known
    }
    for old, new in fresh.items():
        replaced = after.deep_replace(old, new)
        assert isinstance(replaced, cst.FormattedString)
        after = replaced
    return after


def _requoted(node: cst.SimpleString, quote: str) -> cst.SimpleString:
    text = node.raw_value
    if quote in text or "\\" in text:
        return node
    return node.with_changes(value=f"{node.prefix}{quote}{text}{quote}")
