"""Code that reads and writes what a Variable holds: ``v[...]``, ``v.get_value()``."""

from __future__ import annotations

import libcst as cst

# What needs no parentheses as an operand.
_ATOMS = (
    cst.Attribute,
    cst.Call,
    cst.Float,
    cst.Integer,
    cst.Name,
    cst.SimpleString,
    cst.Subscript,
)


def whole(read: cst.Attribute) -> cst.Subscript:
    """Return ``v[...]`` for ``v.value``, laid out as it is."""
    return cst.Subscript(
        value=read.value,
        slice=[cst.SubscriptElement(cst.Index(cst.Ellipsis()))],
        lpar=read.lpar,
        rpar=read.rpar,
        whitespace_after_value=read.dot.whitespace_before,
    )


def whole_of(variable: cst.BaseExpression) -> cst.Subscript:
    """Return ``v[...]`` for ``v``."""
    return cst.Subscript(variable, [cst.SubscriptElement(cst.Index(cst.Ellipsis()))])


def getter(read: cst.Attribute, name: str) -> cst.Call:
    """Return ``v.get_value()`` for ``v.value``, laid out as it is."""
    function = read.with_changes(attr=cst.Name(name), lpar=(), rpar=())
    return cst.Call(function, lpar=read.lpar, rpar=read.rpar)


def setter(variable: cst.BaseExpression, name: str, value: cst.BaseExpression) -> cst.Call:
    """Return ``v.set_value(value)``."""
    return cst.Call(cst.Attribute(variable, cst.Name(name)), [cst.Arg(_as_argument(value))])


def method_of(variable: cst.BaseExpression, name: str) -> cst.Call:
    """Return ``v.name()``."""
    return cst.Call(cst.Attribute(variable, cst.Name(name)))


def operand(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression as the operand of an operator, in parentheses where it may need them."""
    if node.lpar or isinstance(node, _ATOMS):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _as_argument(value: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression as an argument: a tuple or a yield gets parentheses."""
    if isinstance(value, (cst.Tuple, cst.Yield, cst.GeneratorExp)):
        return operand(value)
    return value


def operator_of(operator: cst.BaseAugOp) -> cst.BaseBinaryOp:
    """Return the operator of an augmented assignment: ``+`` for ``+=``."""
    name = type(operator).__name__.removesuffix("Assign")
    found: type[cst.BaseBinaryOp] = getattr(cst, name)
    return found()
