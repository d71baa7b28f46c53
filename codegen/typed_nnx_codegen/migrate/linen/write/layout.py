"""Lays out generated statements: simple expressions, lines that fit, brackets broken as ruff does."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants

_STEP: Final = 4
_DEFAULT_WIDTH: Final = 88
# The shortest lines that projects have; files do not always tell theirs.
_NARROW: Final = 79
_Node = TypeVar("_Node", bound=cst.CSTNode)
_Expression = TypeVar("_Expression", bound=cst.BaseExpression)
_Statement = cst.BaseStatement | cst.If | cst.Else
_SPACE: Final = cst.SimpleWhitespace(" ")
_NOTHING: Final = cst.SimpleWhitespace("")


# -- the width of a project's lines ----------------------------------------------------------------


@cache
def line_width(folder: Path) -> int:
    """Return the line length that ruff or black has for the files of a folder: 88 by default."""
    for name in (".ruff.toml", "ruff.toml", "pyproject.toml"):
        try:
            options = tomllib.loads((folder / name).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            continue
        tools = options.get("tool", {}) if name == "pyproject.toml" else {"ruff": options}
        for tool in ("ruff", "black"):
            width: object = tools.get(tool, {}).get("line-length")
            if isinstance(width, int):
                return width
    return _DEFAULT_WIDTH if folder.parent == folder else line_width(folder.parent)


# -- expressions on one line -----------------------------------------------------------------------


class _Joined(cst.CSTTransformer):
    """Writes an expression on one line, as it is written where it fits."""

    def leave_ParenthesizedWhitespace(
        self,
        original_node: cst.ParenthesizedWhitespace,
        updated_node: cst.ParenthesizedWhitespace,
    ) -> cst.SimpleWhitespace:
        """Go on in the same line."""
        del original_node, updated_node
        return _SPACE

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        """Begin arguments behind the bracket."""
        args = _without_end(updated_node.args, original_node)
        args = [*args[:-1], *(one.with_changes(whitespace_after_arg=_NOTHING) for one in args[-1:])]
        return updated_node.with_changes(whitespace_before_args=_NOTHING, args=args)

    def on_leave(  # type: ignore[override]  # one handler for brackets of all kinds
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        """Write a node; nothing stands between a bracket and what it holds."""
        after = super().on_leave(original_node, updated_node)
        match after:
            case cst.LeftParen() | cst.LeftSquareBracket() | cst.LeftCurlyBrace():
                return after.with_changes(whitespace_after=_NOTHING)
            case cst.RightParen() | cst.RightSquareBracket() | cst.RightCurlyBrace():
                return after.with_changes(whitespace_before=_NOTHING)
            case cst.Tuple(elements=[_, _, *_]) | cst.List() | cst.Set() | cst.Dict():
                elements = _without_end(after.elements, original_node)
                return after.with_changes(elements=elements)
        return after


def _has_comments(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Comment) or any(map(_has_comments, node.children))


def _without_end(items: Sequence[_Node], before: cst.CSTNode) -> list[_Node]:
    """Return arguments or elements without the comma behind the last one.

    It stays where they had lines of their own: for ruff they keep them then.

    Args:
        items: The arguments or elements.
        before: What they are in, as it was.
    """
    keeps = "\n" in code_of(before)
    comma = cst.Comma() if keeps and _ends_in_comma(items) else cst.MaybeSentinel.DEFAULT
    return [*items[:-1], *(one.with_changes(comma=comma) for one in items[-1:])]


def _ends_in_comma(items: Sequence[cst.CSTNode]) -> bool:
    return bool(items) and isinstance(getattr(items[-1], "comma", None), cst.Comma)


def _is_open(node: cst.CSTNode) -> bool:
    """Whether the arguments or elements of a node have a line each, however short they are."""
    match node:
        case cst.Call(args=items):
            return _ends_in_comma(items)
        case cst.Tuple(elements=[_, _, *_]) | cst.List() | cst.Set() | cst.Dict():
            return _ends_in_comma(node.elements)
    return False


def _is_open_within(node: cst.CSTNode) -> bool:
    return any(_is_open(one) for one in (node, *descendants(node)))


def joined(node: _Node) -> _Node:
    """Return a node on one line; as it is where a comment or a text has lines of its own."""
    if "#" in code_of(node) and _has_comments(node):
        return node
    after = node.visit(_Joined())
    assert isinstance(after, type(node))
    return node if "\n" in code_of(after).strip("\n") else after


# -- expressions without what says nothing ---------------------------------------------------------

_ATOMS: Final = (
    *(cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.SimpleString, cst.FormattedString),
    *(cst.List, cst.Dict, cst.ListComp, cst.DictComp, cst.SetComp),
)
# What keeps its parentheses wherever it stands.
_CLOSED: Final = (cst.Tuple, cst.GeneratorExp, cst.NamedExpr, cst.Yield, cst.ConcatenatedString)


class Quoted(cst.CSTTransformer):
    """Gives texts the quotes that the file has, where they are the same in them.

    Args:
        quote: The quotes.
    """

    def __init__(self, quote: str) -> None:
        super().__init__()
        self._quote = quote

    def visit_FormattedString(self, node: cst.FormattedString) -> bool:
        """Leave the texts within others as they are."""
        del node
        return False

    def leave_SimpleString(
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.SimpleString:
        """Write a text."""
        text = original_node.value
        inner = text[1:-1]
        is_plain = text[0] in "\"'" and text[0] * 3 != text[:3]
        if not is_plain or set("\\\"'") & set(inner):
            return updated_node
        return updated_node.with_changes(value=f"{self._quote}{inner}{self._quote}")


class _Simple(Quoted):
    """Leaves out parentheses that nothing needs, and copies of tuples."""

    def __init__(self, shapes: frozenset[str], quote: str) -> None:
        super().__init__(quote)
        self._shapes = shapes

    def on_leave(  # type: ignore[override]  # one handler for all kinds
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        """Write a node."""
        after = super().on_leave(original_node, updated_node)
        match after:
            case cst.Arg(star=""):
                return after.with_changes(value=opened(after.value))
            case cst.Element() | cst.DictElement() | cst.Index() | cst.AssignTarget():
                return self._with_open(after)
            case cst.Assign(value=cst.BaseExpression()) | cst.AnnAssign(value=cst.BaseExpression()):
                return self._with_open(after)
            case cst.Return(value=cst.BaseExpression() as value) if _begins_apart(after):
                return after.with_changes(value=opened(value))
            case cst.Tuple(elements=[cst.StarredElement(value=cst.Name(value=name) as shape)]):
                return shape if name in self._shapes else after
            case cst.Subscript(
                value=cst.Name(value=name) as shape,
                slice=[cst.SubscriptElement(slice=cst.Slice(lower=None, upper=None, step=None))],
            ):
                return shape if name in self._shapes else after
            case cst.BaseExpression() if isinstance(after, _ATOMS) and after.lpar:
                return _bare(after)
        return after

    @staticmethod
    def _with_open(node: _Node) -> _Node:
        value = getattr(node, "value", None)
        return node.with_changes(value=opened(value)) if value is not None else node


def _begins_apart(node: cst.Return) -> bool:
    """Whether the value would not touch the keyword without its parentheses."""
    return isinstance(node.whitespace_after_return, cst.SimpleWhitespace) and bool(
        node.whitespace_after_return.value
    )


def _bare(node: _Expression) -> _Expression:
    return node.with_changes(lpar=[], rpar=[])


def opened(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression that stands alone between brackets or commas, without its own."""
    if isinstance(node, _CLOSED) or not node.lpar or "\n" in code_of(node):
        return node
    return _bare(node)


def with_open_value(before: cst.CSTNode, after: cst.CSTNode) -> cst.CSTNode:
    """Return a node without the parentheses that came with what stands in it now.

    Args:
        before: The node as it was.
        after: It with what is written differently.
    """
    if (isinstance(after, cst.Arg) and after.star) or not isinstance(after, _PLACES):
        return after
    old, new = getattr(before, "value", None), getattr(after, "value", None)
    if not isinstance(old, cst.BaseExpression) or not isinstance(new, cst.BaseExpression):
        return after
    return after if old is new or old.lpar else after.with_changes(value=opened(new))


# Where an expression stands alone.
_PLACES: Final = (
    *(cst.Arg, cst.Element, cst.DictElement, cst.Index),
    *(cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Return, cst.Expr),
)


def simple(node: _Node, shapes: frozenset[str], quote: str) -> _Node:
    """Return generated code without parentheses that nothing needs, and without copies of tuples.

    Args:
        node: The code.
        shapes: The names of tuples.
        quote: The quotes that texts have.
    """
    try:
        after = node.visit(_Simple(shapes, quote))
    except cst.CSTValidationError:  # `(a)if(b)else c`: the parentheses part words
        after = node.visit(Quoted(quote))
    assert isinstance(after, type(node))
    return after


# -- lines that fit --------------------------------------------------------------------------------


class Fitter:
    """Breaks a statement that is too long for a line, as ruff does.

    Args:
        width: How long a line may be.
        indent: The column that the statement begins in.
    """

    def __init__(self, width: int, indent: int) -> None:
        self._width = width
        self._base = indent

    def _line_break(self, column: int) -> cst.ParenthesizedWhitespace:
        return cst.ParenthesizedWhitespace(
            indent=True, last_line=cst.SimpleWhitespace(" " * (column - self._base))
        )

    def statement(self, node: cst.SimpleStatementLine) -> cst.SimpleStatementLine:
        """Return a statement on as few lines as it needs."""
        indent = self._base
        small = node.body[0] if len(node.body) == 1 else None
        value = getattr(small, "value", None)
        if small is None or not isinstance(value, cst.BaseExpression):
            return node
        value = joined(value)
        if isinstance(small, (cst.Assign, cst.AnnAssign, cst.AugAssign)):
            value = opened(value)
        small = small.with_changes(value=value)
        text, own = code_of(small), code_of(value)
        if "\n" in own:
            return node
        before = indent + len(text.rpartition("\n")[2]) - len(own)
        return node.with_changes(
            body=[small.with_changes(value=self._fit(value, indent, before, 0))]
        )

    def header(self, node: cst.If | cst.While | cst.For) -> cst.If | cst.While | cst.For:
        """Return a compound statement whose first line fits."""
        indent = self._base
        name = "iter" if isinstance(node, cst.For) else "test"
        value = joined(getattr(node, name))
        first = node.with_changes(
            body=cst.SimpleStatementSuite([cst.Pass()]),
            orelse=None,
            leading_lines=(),
            **{name: value},
        )
        text = code_of(first).removesuffix("\n").removesuffix("pass").rstrip()
        if "\n" in text or indent + len(text) <= self._width:
            return node.with_changes(**{name: value}) if "\n" not in text else node
        before = indent + len(text) - len(code_of(value)) - 1
        return node.with_changes(**{name: self._fit(value, indent, before, 1)})

    def _fit(
        self,
        node: cst.BaseExpression,
        indent: int,
        before: int,
        behind: int,
        is_enclosed: bool = False,
    ) -> cst.BaseExpression:
        """Return an expression on several lines, if it is too long for one.

        Args:
            node: The expression, on one line.
            indent: The column that the line begins in.
            before: How much of the line is before the expression, with what it begins with.
            behind: How much stands behind it on its last line.
            is_enclosed: Whether the expression is alone on its lines, within brackets.
        """
        fits = before + len(code_of(node)) + behind <= self._width
        if fits and not _is_open_within(node):
            return node
        match node:
            case cst.Call(args=[_, *_]):
                return self._call(node, indent, before, behind)
            case cst.Subscript(value=(cst.Call() | cst.Subscript() | cst.Tuple()) as value):
                behind += len(code_of(node)) - len(code_of(value))
                return node.with_changes(value=self._fit(value, indent, before, behind))
            case cst.Attribute(value=(cst.Call() | cst.Subscript()) as value):
                behind += 1 + len(node.attr.value)
                return node.with_changes(value=self._fit(value, indent, before, behind))
            case cst.Lambda():
                before += len(code_of(node)) - len(code_of(node.body))
                return node.with_changes(body=self._fit(node.body, indent, before, behind))
            case cst.UnaryOperation() | cst.Await():
                inner = node.expression
                before += len(code_of(node)) - len(code_of(inner))
                return node.with_changes(expression=self._fit(inner, indent, before, behind))
            case cst.List(elements=[_, *_]) | cst.Tuple(lpar=[_, *_]) | cst.Dict() | cst.Set():
                return self._display(node, indent)
            case cst.ListComp() | cst.GeneratorExp(lpar=[_, *_]) | cst.SetComp() | cst.DictComp():
                return self._comprehension(node, indent)
            case cst.GeneratorExp():
                return self._parts_of_comprehension(node, indent)
            case cst.BinaryOperation(right=right) | cst.BooleanOperation(right=right) if fits:
                before += len(code_of(node)) - len(code_of(right))
                return node.with_changes(right=self._fit(right, indent, before, behind))
            case cst.BinaryOperation() | cst.BooleanOperation() | cst.IfExp() | cst.Comparison():
                return node if fits else self._operation(node, indent, is_enclosed)
            case cst.Name() | cst.Attribute() | cst.Subscript() if not is_enclosed:
                short = indent + _STEP + len(code_of(node)) <= self._width
                return self._in_brackets(node, indent) if short and not node.lpar else node
        return node

    def _call(self, node: cst.Call, indent: int, before: int, behind: int) -> cst.Call:
        func = node.func
        if before + len(code_of(func)) + 1 > self._width or _is_open_within(func):
            node = node.with_changes(func=self._fit(func, indent, before, 1))
            before = len(code_of(node.func).rpartition("\n")[2])
            is_short = before + len(", ".join(_texts(node.args))) + 2 + behind <= self._width
            if is_short and not any(map(_is_open_within, node.args)):
                return node
        inner = indent + _STEP
        is_open = _is_open(node)
        alone = len(node.args) == 1 and not is_open
        is_on_one = inner + len(", ".join(_texts(node.args))) <= self._width
        is_on_one = is_on_one and not is_open and not any(map(_is_open_within, node.args))
        if alone or is_on_one:
            args = [
                one.with_changes(value=self._fit(one.value, inner, inner + _lead(one), 0, True))
                for one in (node.args if alone else ())
            ]
            args = args or list(node.args)
            last = args[-1].with_changes(whitespace_after_arg=self._line_break(indent))
            return node.with_changes(
                args=[*args[:-1], last], whitespace_before_args=self._line_break(inner)
            )
        args = [
            one.with_changes(value=self._fit(one.value, inner, inner + _lead(one), 1, True))
            for one in node.args
        ]
        return node.with_changes(
            args=self._on_lines(args, indent), whitespace_before_args=self._line_break(inner)
        )

    def _display(self, node: _Expression, indent: int) -> _Expression:
        """Return a list, tuple, set or dict with each element in a line."""
        inner = indent + _STEP
        elements: list[cst.BaseElement | cst.BaseDictElement] = []
        for one in getattr(node, "elements", ()):
            before = inner + len(code_of(one.with_changes(comma=cst.MaybeSentinel.DEFAULT)))
            before -= len(code_of(one.value))
            elements.append(one.with_changes(value=self._fit(one.value, inner, before, 1, True)))
        changed = node.with_changes(elements=self._on_lines(elements, indent))
        return self._with_ends(changed, indent, is_ended=True)

    def _comprehension(self, node: _Expression, indent: int) -> _Expression:
        parts = self._parts_of_comprehension(node, indent + _STEP)
        return self._with_ends(parts, indent, is_ended=False)

    def _parts_of_comprehension(self, node: _Expression, inner: int) -> _Expression:
        """Return a comprehension with what it gives, its loops and conditions on lines of their own."""
        elt = getattr(node, "elt", None)
        if elt is not None:
            node = node.with_changes(elt=self._fit(elt, inner, inner, 0, True))
        return node.with_changes(for_in=self._loops(getattr(node, "for_in"), inner))  # noqa: B009

    def _loops(self, node: cst.CompFor, inner: int) -> cst.CompFor:
        ifs = [one.with_changes(whitespace_before=self._line_break(inner)) for one in node.ifs]
        deeper = None if node.inner_for_in is None else self._loops(node.inner_for_in, inner)
        return node.with_changes(
            whitespace_before=self._line_break(inner), ifs=ifs, inner_for_in=deeper
        )

    def _operation(
        self, node: cst.BaseExpression, indent: int, is_enclosed: bool
    ) -> cst.BaseExpression:
        """Return an operation with a line for each operand, in parentheses of its own if it needs."""
        if node.lpar or not is_enclosed or isinstance(node, cst.IfExp):
            inner = indent + _STEP
            whole = _bare(node)
            if inner + len(code_of(whole)) > self._width:
                whole = self._operands(whole, inner)
            return self._in_brackets(whole, indent)
        return self._operands(node, indent)

    def _operands(self, node: _Expression, indent: int) -> _Expression:
        """Return an operation with the operators of its level at the beginning of lines."""
        line = self._line_break(indent)

        def item(one: cst.BaseExpression, before: int) -> cst.BaseExpression:
            return self._fit(one, indent, indent + before, 0)

        match node:
            case cst.BinaryOperation(left=left, operator=operator, right=right):
                same = isinstance(left, cst.BinaryOperation) and not left.lpar
                same = same and _level(left) == _level(node)
                return node.with_changes(
                    left=self._operands(left, indent) if same else item(left, 0),
                    operator=operator.with_changes(whitespace_before=line),
                    right=item(right, len(code_of(operator).strip()) + 1),
                )
            case cst.BooleanOperation(left=left, operator=operator, right=right):
                same = (
                    isinstance(left, cst.BooleanOperation)
                    and not left.lpar
                    and type(left.operator) is type(operator)
                )
                return node.with_changes(
                    left=self._operands(left, indent) if same else item(left, 0),
                    operator=operator.with_changes(whitespace_before=line),
                    right=item(right, 4),
                )
            case cst.Comparison(left=left, comparisons=comparisons):
                parts = [
                    one.with_changes(
                        operator=one.operator.with_changes(whitespace_before=line),
                        comparator=item(one.comparator, len(code_of(one.operator).strip()) + 1),
                    )
                    for one in comparisons
                ]
                return node.with_changes(left=item(left, 0), comparisons=parts)
            case cst.IfExp(body=body, test=test, orelse=orelse):
                return node.with_changes(
                    body=item(body, 0),
                    whitespace_before_if=line,
                    test=item(test, 3),
                    whitespace_before_else=line,
                    orelse=item(orelse, 5),
                )
        return node

    def _in_brackets(self, node: _Expression, indent: int) -> _Expression:
        return node.with_changes(
            lpar=[cst.LeftParen(whitespace_after=self._line_break(indent + _STEP))],
            rpar=[cst.RightParen(whitespace_before=self._line_break(indent))],
        )

    def _with_ends(self, node: _Expression, indent: int, *, is_ended: bool) -> _Expression:
        """Return a display or comprehension that begins behind the line of its bracket.

        Args:
            node: The display.
            indent: The column of its end.
            is_ended: Whether a comma behind its last part ends the line of that already.
        """
        names = (
            ("lpar", "rpar")
            if isinstance(node, cst.Tuple | cst.GeneratorExp)
            else (
                ("lbracket", "rbracket")
                if isinstance(node, cst.List | cst.ListComp)
                else ("lbrace", "rbrace")
            )
        )
        begin, end = getattr(node, names[0]), getattr(node, names[1])
        inner, outer = self._line_break(indent + _STEP), self._line_break(indent)
        changes: dict[str, object] = {}
        if names[0] == "lpar":
            changes["lpar"] = [begin[0].with_changes(whitespace_after=inner)]
            if not is_ended:
                changes["rpar"] = [end[0].with_changes(whitespace_before=outer)]
        else:
            changes[names[0]] = begin.with_changes(whitespace_after=inner)
            if not is_ended:
                changes[names[1]] = end.with_changes(whitespace_before=outer)
        return node.with_changes(**changes)

    def _on_lines(self, items: Sequence[_Node], indent: int) -> list[_Node]:
        """Return arguments or elements with a comma and the end of the line behind each."""
        inner = cst.Comma(whitespace_after=self._line_break(indent + _STEP))
        last = cst.Comma(whitespace_after=self._line_break(indent))
        done = [one.with_changes(comma=inner) for one in items[:-1]]
        return [*done, *(one.with_changes(comma=last) for one in items[-1:])]


_SUMS: Final = (cst.Add, cst.Subtract)
_PRODUCTS: Final = (cst.Multiply, cst.Divide, cst.FloorDivide, cst.Modulo, cst.MatrixMultiply)


def _level(node: cst.BaseExpression) -> int:
    """Return how tightly the operator of an operation binds."""
    operator = getattr(node, "operator", None)
    return 1 if isinstance(operator, _SUMS) else 2 if isinstance(operator, _PRODUCTS) else 3


def _texts(args: Sequence[cst.Arg]) -> list[str]:
    return [code_of(one.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for one in args]


def _lead(arg: cst.Arg) -> int:
    """Return how much of an argument is before its value."""
    return len(_texts([arg])[0]) - len(code_of(arg.value))


# -- generated functions ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """How the lines of a file are laid out.

    Attributes:
        source: The text of the file: statements that are written as they were keep their lines.
        width: How long a line may be.
        step: How far a block is indented.
        quote: The quotes that texts have.
    """

    source: str
    width: int
    step: int
    quote: str

    def function(
        self, node: cst.FunctionDef, depth: int, comments: Mapping[str, str] | None = None
    ) -> cst.FunctionDef:
        """Return a generated function with simple expressions and lines that fit.

        Args:
            node: The function.
            depth: How many blocks it is in.
            comments: Comments behind parameters.
        """
        params = joined(node.params)
        shapes = frozenset(
            one.name.value
            for one in (*params.params, *params.kwonly_params)
            if one.annotation is not None and code_of(one.annotation.annotation) == _SHAPE
        )
        node = node.with_changes(params=params)
        length = depth * self.step + len(_header(node))
        if comments or length > self.width:
            node = node.with_changes(
                params=_one_a_line(params, comments or {}), whitespace_before_params=_line_break(1)
            )
        return self._with_body(node, depth + 1, shapes)

    def _with_body(self, node: _Node, depth: int, shapes: frozenset[str]) -> _Node:
        """Return a compound statement whose blocks are laid out."""
        body, orelse = getattr(node, "body", None), getattr(node, "orelse", None)
        if isinstance(body, cst.IndentedBlock):
            lines = [self._statement(one, depth, shapes) for one in body.body]
            node = node.with_changes(body=body.with_changes(body=lines))
        if isinstance(orelse, (cst.If, cst.Else)):
            node = node.with_changes(orelse=self._statement(orelse, depth - 1, shapes))
        return node

    def _statement(
        self, node: _Statement, depth: int, shapes: frozenset[str]
    ) -> cst.BaseStatement | cst.If | cst.Else:
        fitter = Fitter(self.width, depth * self.step)
        if isinstance(node, cst.SimpleStatementLine):
            text = code_of(node.with_changes(leading_lines=())).strip()
            if "\n" in text and text in self.source:
                return node
            return fitter.statement(simple(node, shapes, self.quote))
        if isinstance(node, (cst.If, cst.While, cst.For)):
            return self._with_body(fitter.header(node), depth + 1, shapes)
        return self._with_body(node, depth + 1, shapes)

    def changed(
        self, before: cst.SimpleStatementLine, after: cst.SimpleStatementLine, depth: int
    ) -> cst.SimpleStatementLine:
        """Return a statement of the file laid out anew, if what was written into it asks for that.

        Its own layout stays where no line became too long, and where it is as long as it was.

        Args:
            before: The statement as it was.
            after: It with what is written differently.
            depth: How many blocks it is in.
        """
        old, new = _text(before), _text(after)
        if old == new:
            return after
        room = self.width - depth * self.step
        is_long = _longest(new) > max(room, _longest(old))
        narrow = min(room, _NARROW - depth * self.step)
        was_broken = "\n" in old and _longest(_text(joined(before))) > narrow
        on_one = joined(after)
        fits = _longest(_text(on_one)) <= room and not _is_open_within(on_one)
        if is_long or (was_broken and "\n" in new and fits):
            return Fitter(self.width, depth * self.step).statement(after)
        return after

    def header(
        self, before: cst.FunctionDef, after: cst.FunctionDef, depth: int
    ) -> cst.FunctionDef:
        """Return a method whose parameters fit, if some came that made its first line too long.

        Args:
            before: The method as it was.
            after: It with what is written differently.
            depth: How many blocks it is in.
        """
        added = len(code_of(after.params)) - len(code_of(before.params))
        is_broken = "\n" in code_of(after.params)
        is_open = is_broken and _ends_in_comma(before.params.params)
        params = joined(after.params)
        if added <= 0 or "\n" in code_of(params):
            return after
        after = after.with_changes(params=params, whitespace_before_params=_NOTHING)
        line = _header(after).rpartition("\n")[2]
        if not is_open and depth * self.step + len(line) <= self.width:
            return after
        inner = (depth + 1) * self.step + len(code_of(params))
        is_one_line = not is_open and inner <= self.width
        params = _ended(params, _line_break(0)) if is_one_line else _one_a_line(params, {})
        return after.with_changes(params=params, whitespace_before_params=_line_break(1))


def layout_of(analysis: Analysis) -> Layout:
    """Return how the lines of a file are laid out."""
    tree = analysis.tree
    text = tree.code
    quote = '"' if text.count('"') >= text.count("'") else "'"
    return Layout(text, line_width(analysis.path.parent), len(tree.default_indent), quote)


_SHAPE: Final = "tuple[int, ...]"


def _header(node: cst.FunctionDef) -> str:
    bare = node.with_changes(leading_lines=(), body=cst.SimpleStatementSuite([cst.Pass()]))
    return code_of(bare).rstrip().removesuffix("pass").rstrip()


def _text(node: cst.SimpleStatementLine) -> str:
    bare = node.with_changes(leading_lines=(), trailing_whitespace=cst.TrailingWhitespace())
    return code_of(bare).rstrip("\n")


def _longest(text: str) -> int:
    """Return the length of the longest line, where the first one is not indented."""
    return max(map(len, text.split("\n")))


def _ended(params: cst.Parameters, end: cst.ParenthesizedWhitespace) -> cst.Parameters:
    """Return parameters with white space behind the last one."""
    for name in ("star_kwarg", "kwonly_params", "star_arg", "params"):
        last: object = getattr(params, name)
        if isinstance(last, cst.Param):
            return params.with_changes(**{name: last.with_changes(whitespace_after_param=end)})
        if isinstance(last, Sequence) and last:
            one = last[-1].with_changes(whitespace_after_param=end)
            return params.with_changes(**{name: [*last[:-1], one]})
    return params


def _one_a_line(params: cst.Parameters, comments: Mapping[str, str]) -> cst.Parameters:
    every = [*params.params, *params.kwonly_params]
    last = every[-1] if every and not isinstance(params.star_kwarg, cst.Param) else None

    def ended(one: cst.Param) -> cst.Param:
        end = _line_break(0 if one is last else 1, comments.get(one.name.value, ""))
        return one.with_changes(comma=cst.Comma(whitespace_after=end))

    star = params.star_arg
    if isinstance(star, (cst.ParamStar, cst.Param)):
        star = star.with_changes(comma=cst.Comma(whitespace_after=_line_break(1)))
    kwargs = params.star_kwarg
    if kwargs is not None:
        kwargs = kwargs.with_changes(comma=cst.Comma(whitespace_after=_line_break(0)))
    return params.with_changes(
        params=[ended(one) for one in params.params],
        kwonly_params=[ended(one) for one in params.kwonly_params],
        star_arg=star,
        star_kwarg=kwargs,
    )


def _line_break(level: int, comment: str = "") -> cst.ParenthesizedWhitespace:
    end = cst.TrailingWhitespace()
    if comment:
        end = cst.TrailingWhitespace(cst.SimpleWhitespace("  "), cst.Comment(comment))
    return cst.ParenthesizedWhitespace(
        first_line=end, indent=True, last_line=cst.SimpleWhitespace(" " * _STEP * level)
    )
