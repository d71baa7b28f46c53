"""Parentheses around code: where it needs them, and where not."""

from __future__ import annotations

import ast
import re
from typing import Final

import libcst as cst

_ATOM: Final = re.compile(r"[\w.]+(\[-?\w+\])*")


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


def in_same(before: cst.CSTNode, after: cst.CSTNode) -> cst.CSTNode:
    """Return an expression in the parentheses of the one that it stands for: `return(x)`."""
    if not isinstance(before, cst.BaseExpression) or not isinstance(after, cst.BaseExpression):
        return after
    if not before.lpar or after.lpar:
        return after
    return after.with_changes(lpar=before.lpar, rpar=before.rpar)


def parsed(text: str) -> cst.BaseExpression:
    """Return code as an expression that can stand in another one."""
    node = cst.parse_expression(text)
    if _ATOM.fullmatch(text) or isinstance(
        node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.List, cst.SimpleString)
    ):
        return node
    if getattr(node, "lpar", None):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
