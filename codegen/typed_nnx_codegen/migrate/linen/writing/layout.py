"""Lays generated code out: lines that are too long become one argument a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of

WIDTH: Final = 100
_INDENT: Final = "    "
_Node = TypeVar("_Node", bound=cst.CSTNode)


def laid_out(
    function: cst.FunctionDef, depth: int, comments: Mapping[str, str] | None = None
) -> cst.FunctionDef:
    """Return a generated function with lines that fit.

    Args:
        function: The function, on one line for each statement.
        depth: How many blocks it is in.
        comments: Comments behind parameters.
    """
    header = code_of(function.with_changes(body=cst.SimpleStatementSuite([cst.Pass()])))
    first = header.strip("\n").rpartition("\n")[2]
    is_long = _is_long(first.removesuffix("pass").rstrip(), depth)
    if comments or (is_long and "\n" not in header.strip("\n")):
        function = function.with_changes(
            params=_one_a_line(function.params, comments or {}),
            whitespace_before_params=_line_break(1),
        )
    return _with_body(function, depth)


def _with_body(node: _Node, depth: int) -> _Node:
    body = getattr(node, "body", None)
    if isinstance(body, cst.IndentedBlock):
        lines = [_statement(one, depth + 1) for one in body.body]
        node = node.with_changes(body=body.with_changes(body=lines))
    orelse = getattr(node, "orelse", None)
    if isinstance(orelse, (cst.If, cst.Else)):
        node = node.with_changes(orelse=_with_body(orelse, depth))
    return node


def _statement(node: cst.BaseStatement, depth: int) -> cst.BaseStatement:
    if not isinstance(node, cst.SimpleStatementLine):
        return _with_body(node, depth)
    bare = node.with_changes(leading_lines=(), trailing_whitespace=cst.TrailingWhitespace())
    text = code_of(bare).strip()
    if "\n" in text or not _is_long(text, depth) or len(node.body) != 1:
        return node
    small = node.body[0]
    if isinstance(small, (cst.Assign, cst.Expr)):
        before = len(text) - len(code_of(small.value))
        value = _broken(small.value, depth, 0, before)
        return node.with_changes(body=[small.with_changes(value=value)])
    return node


def _is_long(text: str, depth: int) -> bool:
    return len(_INDENT) * depth + len(text) > WIDTH


def _broken(
    node: cst.BaseExpression, depth: int, level: int, before: int = 0, behind: int = 0
) -> cst.BaseExpression:
    """Return an expression on several lines, if it is too long for one.

    Args:
        node: The expression.
        depth: How many blocks its statement is in.
        level: How many brackets on lines of their own are around it.
        before: How much stands before it on its line.
        behind: How much stands behind it.
    """
    room = WIDTH - len(_INDENT) * (depth + level) - before - behind
    if len(code_of(node)) <= room:
        return node
    if isinstance(node, cst.Call) and node.args:
        inside = ", ".join(code_of(_bare_argument(arg)) for arg in node.args)
        if len(inside) <= WIDTH - len(_INDENT) * (depth + level + 1):
            args = [*node.args[:-1], _with_end(node.args[-1], _line_break(level))]
            return node.with_changes(args=args, whitespace_before_args=_line_break(level + 1))
        args = [_argument(arg, depth, level + 1) for arg in node.args]
        if len(args) == 1:
            args = [_with_end(args[0], _line_break(level))]
            return node.with_changes(args=args, whitespace_before_args=_line_break(level + 1))
        return node.with_changes(
            args=_on_lines(args, level), whitespace_before_args=_line_break(level + 1)
        )
    if isinstance(node, cst.ListComp):
        behind_item = node.for_in.with_changes(whitespace_before=_line_break(level + 1))
        return node.with_changes(
            elt=_broken(node.elt, depth, level + 1),
            for_in=behind_item,
            lbracket=cst.LeftSquareBracket(whitespace_after=_line_break(level + 1)),
            rbracket=cst.RightSquareBracket(whitespace_before=_line_break(level)),
        )
    if isinstance(node, cst.List) and node.elements:
        elements = [
            one.with_changes(value=_broken(one.value, depth, level + 1, behind=1))
            for one in node.elements
        ]
        return node.with_changes(
            elements=_on_lines(elements, level),
            lbracket=cst.LeftSquareBracket(whitespace_after=_line_break(level + 1)),
        )
    return node


def _argument(arg: cst.Arg, depth: int, level: int) -> cst.Arg:
    before = len(code_of(_bare_argument(arg))) - len(code_of(arg.value))
    return arg.with_changes(value=_broken(arg.value, depth, level, before, behind=1))


def _bare_argument(arg: cst.Arg) -> cst.Arg:
    return arg.with_changes(comma=cst.MaybeSentinel.DEFAULT)


def _with_end(arg: cst.Arg, end: cst.ParenthesizedWhitespace) -> cst.Arg:
    return arg.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=end)


def _on_lines(items: Sequence[_Node], level: int) -> list[_Node]:
    """Return arguments or elements with a comma and the end of the line behind each."""
    done = [
        one.with_changes(comma=cst.Comma(whitespace_after=_line_break(level + 1)))
        for one in items[:-1]
    ]
    last = items[-1].with_changes(comma=cst.Comma(whitespace_after=_line_break(level)))
    return [*done, last]


def _one_a_line(params: cst.Parameters, comments: Mapping[str, str]) -> cst.Parameters:
    def ended(one: cst.Param, level: int = 1) -> cst.Param:
        end = _line_break(level, comments.get(one.name.value, ""))
        return one.with_changes(comma=cst.Comma(whitespace_after=end))

    keywords = [ended(one) for one in params.kwonly_params[:-1]]
    keywords += [ended(one, 0) for one in params.kwonly_params[-1:]]
    star = params.star_arg
    if isinstance(star, cst.ParamStar):
        star = star.with_changes(comma=cst.Comma(whitespace_after=_line_break(1)))
    return params.with_changes(
        params=[ended(one) for one in params.params], kwonly_params=keywords, star_arg=star
    )


def _line_break(level: int, comment: str = "") -> cst.ParenthesizedWhitespace:
    end = cst.TrailingWhitespace()
    if comment:
        end = cst.TrailingWhitespace(cst.SimpleWhitespace("  "), cst.Comment(comment))
    return cst.ParenthesizedWhitespace(
        first_line=end, indent=True, last_line=cst.SimpleWhitespace(_INDENT * level)
    )
