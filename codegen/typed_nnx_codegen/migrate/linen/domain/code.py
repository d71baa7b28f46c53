"""Code of libcst nodes: parentheses where it needs them, and nodes that are written differently."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal, TypeVar

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import (
    Transformer,
    code_of,
    is_kind,
)

# The same few expressions are asked for again and again.
_KEPT: Final = 8192
T = TypeVar("T")
N = TypeVar("N", bound=cst.CSTNode)

_SIMPLE: Final = (
    *(cst.Name, cst.Attribute, cst.Call, cst.Subscript),
    *(cst.SimpleString, cst.FormattedString, cst.List, cst.Dict, cst.BaseNumber),
)


def is_place(code: str) -> bool:
    """Whether code is a name, an attribute or an item, which nothing has to compute again."""
    return isinstance(parsed(code), cst.Name | cst.Attribute | cst.Subscript)


def is_operand(node: cst.BaseExpression) -> bool:
    """Whether an expression can stand in another one as it is."""
    return isinstance(node, _SIMPLE) or bool(node.lpar)


def wrapped(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression that can stand in another one: an operation in parentheses."""
    if is_operand(node):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def enclosed(node: T) -> T:
    """Return an expression in parentheses; anything else as it is."""
    if not isinstance(node, cst.BaseExpression) or node.lpar:
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


_ATOM_LEVEL: Final = 15
_BINARY: Final = (
    (6, cst.BitOr),
    (7, cst.BitXor),
    (8, cst.BitAnd),
    (9, cst.LeftShift | cst.RightShift),
    (10, cst.Add | cst.Subtract),
    (13, cst.Power),
    (11, cst.BaseBinaryOp),
)


def _level(node: cst.BaseExpression) -> int:
    """Return how strongly an expression binds: more where it needs no parentheses."""
    match node:
        case cst.BaseExpression(lpar=[_, *_]):
            return _ATOM_LEVEL
        case cst.BaseNumber():
            return 14  # it needs some before a dot
        case cst.BinaryOperation(operator=operator):
            return next(level for level, kind in _BINARY if isinstance(operator, kind))
        case cst.UnaryOperation(operator=operator):
            return 4 if isinstance(operator, cst.Not) else 12
        case cst.Comparison():
            return 5
        case cst.BooleanOperation(operator=operator):
            return 3 if isinstance(operator, cst.And) else 2
        case cst.IfExp():
            return 1
        case cst.Lambda():
            return 0
        case cst.Tuple() | cst.GeneratorExp() | cst.NamedExpr() | cst.Yield():
            return -1
    return _ATOM_LEVEL


_OPERATIONS: Final = (
    *(cst.BinaryOperation, cst.BooleanOperation, cst.UnaryOperation, cst.Comparison, cst.IfExp),
    *(cst.ComparisonTarget, cst.Attribute, cst.Subscript, cst.Call, cst.StarredElement),
    *(cst.CompFor, cst.CompIf),
)


def _operands(node: cst.CSTNode) -> dict[str, int]:
    """Return the operands of a node, by field, and how strongly they have to bind."""
    match node:
        case cst.BinaryOperation(operator=cst.Power()):
            return {"left": 14, "right": 12}
        case cst.BinaryOperation() | cst.BooleanOperation():
            level = _level(node.with_changes(lpar=[], rpar=[]))
            return {"left": level, "right": level + 1}
        case cst.UnaryOperation():
            return {"expression": _level(node.with_changes(lpar=[], rpar=[]))}
        case cst.Comparison():
            return {"left": 6}
        case cst.ComparisonTarget():
            return {"comparator": 6}
        case cst.IfExp():
            return {"body": 2, "test": 2, "orelse": 0}
        case cst.Attribute() | cst.Subscript():
            return {"value": _ATOM_LEVEL}
        case cst.Call():
            return {"func": _ATOM_LEVEL}
        case cst.StarredElement():
            return {"value": 6}
        case cst.CompFor():
            return {"iter": 2}
        case cst.CompIf():
            return {"test": 2}
    return {}


def with_parentheses(node: cst.CSTNode) -> cst.CSTNode:
    """Return an operation whose operands are in parentheses where they need them."""
    changes: dict[str, cst.BaseExpression] = {}
    if not is_kind(type(node), *_OPERATIONS):
        return node
    for name, least in _operands(node).items():
        value: object = getattr(node, name)
        if isinstance(value, cst.BaseExpression) and _level(value) < least:
            changes[name] = enclosed(value)
    return node.with_changes(**changes) if changes else node


_OPPOSITES: Final[dict[type[cst.BaseCompOp], type[cst.BaseCompOp]]] = {
    cst.Equal: cst.NotEqual,
    cst.NotEqual: cst.Equal,
    cst.Is: cst.IsNot,
    cst.IsNot: cst.Is,
    cst.In: cst.NotIn,
    cst.NotIn: cst.In,
}


def negated(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return the opposite of a condition."""
    match node:
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=operator) as target]):
            opposite = _OPPOSITES.get(type(operator))
            if opposite is not None:
                return node.with_changes(comparisons=[target.with_changes(operator=opposite())])
        case cst.UnaryOperation(operator=cst.Not(), expression=expression):
            return expression
    after = with_parentheses(cst.UnaryOperation(cst.Not(), node))
    assert isinstance(after, cst.BaseExpression)
    return after


@lru_cache(maxsize=_KEPT)
def operand(code: str) -> str:
    """Return code that can stand in an expression: in parentheses where it is an operation."""
    return code if is_operand(cst.parse_expression(code)) else f"({code})"


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


@lru_cache(maxsize=_KEPT)
def parsed(text: str) -> cst.BaseExpression:
    """Return code as an expression that can stand in another one."""
    return wrapped(cst.parse_expression(text))


def argument(
    value: cst.BaseExpression, keyword: str = "", star: Literal["", "*", "**"] = ""
) -> cst.Arg:
    """Return an argument of a call."""
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    name = cst.Name(keyword) if keyword else None
    return cst.Arg(value, name, equal if keyword else cst.MaybeSentinel.DEFAULT, star=star)


def arguments_of(code: str) -> Sequence[cst.Arg]:
    """Return the arguments that code has: `x, train=True`."""
    call = cst.parse_expression(f"f({code})")
    assert isinstance(call, cst.Call)
    return call.args


Replacements = Mapping[cst.CSTNode, str] | Mapping[cst.CSTNode, str | cst.BaseExpression]


class Replacer(Transformer):
    """Writes other code for some nodes.

    Args:
        replacements: The code or expression, by node.
        encloses: Whether it stands in parentheses.
    """

    def __init__(self, replacements: Replacements, *, encloses: bool = False) -> None:
        super().__init__()
        self._replacements = replacements
        self._encloses = encloses

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Do not go below what is replaced."""
        return node not in self._replacements

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        """Write a node."""
        written = self._replacements.get(original_node)
        if written is None:
            return with_parentheses(updated_node)  # type: ignore[return-value]  # of the same kind
        after = cst.parse_expression(written) if isinstance(written, str) else written
        return enclosed(after) if self._encloses else after  # type: ignore[return-value]  # expressions only


def code_with(node: cst.CSTNode, replacements: Replacements) -> str:
    """Return the code of a node in which others are written differently."""
    return code_of(written_with(node, replacements))


def written_with(node: N, replacements: Replacements) -> N:
    """Return a node in which others are written differently."""
    try:
        return Replacer(replacements).applied(node)
    except cst.CSTValidationError:
        # Parentheses are what parts `not(x)` and `a if(b)else c`.
        return Replacer(replacements, encloses=True).applied(node)
