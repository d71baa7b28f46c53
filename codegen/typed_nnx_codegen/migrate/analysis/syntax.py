"""Small readings of the tree: children, dotted names, literals, the shape of arguments."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator
from functools import cache
from typing import TypeGuard

import libcst as cst

_WORD = re.compile(r"[^\W\d]\w*")
# Fields that hold layout, never code.
_LAYOUT = frozenset(
    {
        "comma",
        "colon",
        "dot",
        "equal",
        "footer",
        "header",
        "indent",
        "leading_lines",
        "lines_after_decorators",
        "lpar",
        "newline",
        "rpar",
        "semicolon",
        "trailing_whitespace",
    }
)


@cache
def _code_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    names = (field.name for field in dataclasses.fields(kind))
    return tuple(name for name in names if "whitespace" not in name and name not in _LAYOUT)


@cache
def is_kind(kind: type, *of: type[cst.CSTNode]) -> bool:
    """Whether a type of nodes is one of some types; quicker than `isinstance` for libcst's bases."""
    return issubclass(kind, of)


_nodes: dict[type, bool] = {}


def is_node(value: object) -> TypeGuard[cst.CSTNode]:
    """Whether a value is a node; quicker than `isinstance` for libcst's bases."""
    kind = type(value)
    known = _nodes.get(kind)
    if known is None:
        known = _nodes[kind] = issubclass(kind, cst.CSTNode)
    return known


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the parts of a node that hold code, in the order of the text."""
    for name in _code_fields(type(node)):
        value: object = getattr(node, name)
        if isinstance(value, (tuple, list)):
            for item in value:
                if is_node(item):
                    yield item
        elif value is not None and is_node(value):
            yield value


def descendants(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield a node and all below it that hold code, in the order of the text."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(list(children(current))))


def dotted(node: cst.CSTNode) -> str:
    """Return ``a.b.c`` for a name or a chain of attributes of a name; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return ""
    parts.append(node.value)
    return ".".join(reversed(parts))


def text_of(node: cst.CSTNode) -> str | None:
    """Return the text of a string literal; None for anything else."""
    if isinstance(node, (cst.SimpleString, cst.ConcatenatedString)):
        value = node.evaluated_value
        return value if isinstance(value, str) else None
    return None


def number_of(node: cst.CSTNode) -> int | float | None:
    """Return the value of a number, with a sign or without; None for anything else."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = number_of(node.expression)
        return -inner if inner is not None else None
    if isinstance(node, (cst.Integer, cst.Float)):
        try:
            value = ast.literal_eval(node.value)
        except (SyntaxError, ValueError):
            return None
        return value if isinstance(value, (int, float)) else None
    return None


def argument(call: cst.Call, position: int | None, keyword: str) -> cst.Arg | None:
    """Return the argument at a position or with a keyword; None where it is not surely there.

    Args:
        call: The call.
        position: Its position, from 0; None where only the keyword names it.
        keyword: Its name; empty for arguments that have a position only.
    """
    for index, arg in enumerate(call.args):
        if arg.star:
            return None if arg.star == "*" else _keyword_after(call, index, keyword)
        if arg.keyword is None:
            if position is not None and index == position:
                return arg
        elif keyword and arg.keyword.value == keyword:
            return arg
    return None


def _keyword_after(call: cst.Call, index: int, keyword: str) -> cst.Arg | None:
    for arg in call.args[index:]:
        if keyword and arg.keyword is not None and arg.keyword.value == keyword:
            return arg
    return None


def has_star(call: cst.Call) -> bool:
    """Whether a call has ``*args`` or ``**kwargs``."""
    return any(arg.star for arg in call.args)


def code_of(node: cst.CSTNode) -> str:
    """Return the text of a node."""
    return cst.Module(body=[]).code_for_node(node)


def targets_of(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the single targets that an assignment to an expression has."""
    if isinstance(node, (cst.Tuple, cst.List)):
        for element in node.elements:
            yield from targets_of(element.value)
    elif isinstance(node, cst.StarredElement):
        yield from targets_of(node.value)
    else:
        yield node


def parameters_of(parameters: cst.Parameters) -> Iterator[cst.Param]:
    """Yield all parameters of a function, in the order of the text."""
    yield from parameters.posonly_params
    yield from parameters.params
    if isinstance(parameters.star_arg, cst.Param):
        yield parameters.star_arg
    yield from parameters.kwonly_params
    if parameters.star_kwarg is not None:
        yield parameters.star_kwarg


def read_names(node: cst.CSTNode) -> frozenset[str]:
    """Return the names that code reads or binds; not those in import statements."""
    names: set[str] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        kind = type(current)
        if kind is cst.Name:
            names.add(cst.ensure_type(current, cst.Name).value)
        elif kind is cst.Attribute:
            stack.append(cst.ensure_type(current, cst.Attribute).value)
        elif kind is cst.Arg:
            stack.append(cst.ensure_type(current, cst.Arg).value)
        elif kind is cst.SimpleString:
            # It may be an annotation in quotes.
            names.update(_WORD.findall(cst.ensure_type(current, cst.SimpleString).value))
        elif kind is not cst.Import and kind is not cst.ImportFrom:
            stack.extend(children(current))
    return frozenset(names)
