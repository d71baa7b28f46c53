"""Lays generated code out, and puts helper definitions at the top level of their file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.linen.layers import Helper


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


_NAME_OF_NNX = re.compile(r"(?<![\w.])nnx(?=\.)")


class NameTaken(Exception):
    """The file has something else by the name of a helper.

    Args:
        name: The name.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"the file has a `{name}` already, which the migration would define")
        self.name = name


def in_order(helpers: Iterable[Helper]) -> list[Helper]:
    """Return helpers, each once, behind those that they need themselves."""
    found: dict[Helper, None] = {}

    def add(helper: Helper) -> None:
        for one in helper.after:
            add(one)
        found[helper] = None

    for helper in helpers:
        add(helper)
    return list(found)


def check_names(helpers: Iterable[Helper], file: File) -> None:
    """See that a file has the names of helpers free.

    Raises:
        NameTaken: It has one for something else.
    """
    for helper in in_order(helpers):
        found = [one for one in file.analysis.tree.body if _defines(one) == helper.name]
        same = all(code_of(_without_comments(one)).strip() == helper.code.strip() for one in found)
        if not same or (not found and helper.name in file.analysis.scope.seen):
            raise NameTaken(helper.name)


def with_helpers(module: cst.Module, helpers: Iterable[Helper], file: File) -> cst.Module:
    """Return a module with helpers behind its imports; the imports that they need are noted.

    Args:
        module: The module, whose imports are not finished yet.
        helpers: The helpers.
        file: The file.
    """
    there = {_defines(one) for one in module.body}
    new = [helper for helper in in_order(helpers) if helper.name not in there]
    if not new:
        return module
    nnx = code_of(file.refer("nnx"))
    statements: list[cst.BaseStatement] = []
    for helper in new:
        for text in helper.imports:
            local = text.rpartition(" ")[2]
            if local not in file.analysis.scope.seen:
                file.names.added.setdefault(local, text)
        parsed = cst.parse_module(_NAME_OF_NNX.sub(nnx, helper.code))
        blank = [cst.EmptyLine(indent=False)] * 2
        for number, one in enumerate(parsed.body):
            lines = (*blank, *(parsed.header if number == 0 else ()), *_lines(one))
            statements.append(one.with_changes(leading_lines=lines))
    place = _behind_imports(module)
    rest = list(module.body[place:])
    if rest and len([line for line in _lines(rest[0]) if line.comment is None]) < 2:
        blank = [cst.EmptyLine(indent=False)] * 2
        kept = [line for line in _lines(rest[0]) if line.comment is not None]
        rest[0] = rest[0].with_changes(leading_lines=[*blank, *kept])
    return module.with_changes(body=[*module.body[:place], *statements, *rest])


def _behind_imports(module: cst.Module) -> int:
    """Return the place behind the last import of the top level, and behind the docstring."""
    place = 0
    for number, one in enumerate(module.body):
        if isinstance(one, (cst.ClassDef, cst.FunctionDef)):
            break
        if number == 0 and module.get_docstring() is not None:
            place = 1
        if any(isinstance(each, (cst.Import, cst.ImportFrom)) for each in _flat(one)):
            place = number + 1
    return place


def _flat(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in node.children:
        if isinstance(child, (cst.BaseStatement, cst.BaseSmallStatement, cst.BaseSuite)):
            yield from _flat(child)


def _defines(node: cst.CSTNode) -> str:
    return node.name.value if isinstance(node, (cst.ClassDef, cst.FunctionDef)) else ""


def _without_comments(node: cst.CSTNode) -> cst.CSTNode:
    return node.with_changes(leading_lines=()) if _defines(node) else node


def _lines(node: cst.CSTNode) -> tuple[cst.EmptyLine, ...]:
    return tuple(getattr(node, "leading_lines", ()))


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
