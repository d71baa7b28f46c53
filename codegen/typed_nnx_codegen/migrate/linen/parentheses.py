"""Parentheses around code: where it needs them, and where not."""

from __future__ import annotations

import ast

import libcst as cst


def operand(code: str) -> str:
    """Return code that can stand in an expression: in parentheses where it is an operation."""
    node = cst.parse_expression(code)
    simple = (
        cst.Name,
        cst.Attribute,
        cst.Call,
        cst.Subscript,
        cst.SimpleString,
        cst.List,
        cst.Dict,
    )
    if isinstance(node, (*simple, cst.FormattedString)) or getattr(node, "lpar", None):
        return code
    return f"({code})"


def bare(code: str) -> str:
    """Return code without the parentheses around it, where it is not a tuple."""
    if code.startswith("(") and code.endswith(")") and "\n" not in code:
        node = cst.parse_expression(code)
        if len(getattr(node, "lpar", ())) == 1 and not isinstance(node, cst.Tuple):
            return code[1:-1]
    return code


def closed(text: str) -> str:
    """Return code that goes on in another line in parentheses, unless it has some around it."""
    if "\n" not in text:
        return text
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return f"({text})"
    return text
