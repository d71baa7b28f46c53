"""Parentheses around code: where it needs them, and where not."""

from __future__ import annotations

import ast
import re
from typing import Final

import libcst as cst

_ATOM: Final = re.compile(r"[\w.]+(\[-?\w+\])*")
_SIMPLE: Final = (
    *(cst.Name, cst.Attribute, cst.Call, cst.Subscript),
    *(cst.SimpleString, cst.FormattedString, cst.List, cst.Dict),
)


def is_atom(code: str) -> bool:
    """Whether code is a name, an attribute, or an item of one."""
    return _ATOM.fullmatch(code) is not None


def is_operand(node: cst.BaseExpression) -> bool:
    """Whether an expression can stand in another one as it is."""
    return isinstance(node, _SIMPLE) or bool(node.lpar)


def wrapped(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression that can stand in another one: an operation in parentheses."""
    if is_operand(node):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def operand(code: str) -> str:
    """Return code that can stand in an expression: in parentheses where it is an operation."""
    return code if is_operand(cst.parse_expression(code)) else f"({code})"


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
    if isinstance(before, cst.Tuple) and isinstance(after, cst.Name | cst.Attribute | cst.Call):
        return after  # what is left of a tuple: the parentheses were its own
    return after.with_changes(lpar=before.lpar, rpar=before.rpar)


def parsed(text: str) -> cst.BaseExpression:
    """Return code as an expression that can stand in another one."""
    node = cst.parse_expression(text)
    return node if is_atom(text) else wrapped(node)
