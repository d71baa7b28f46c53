"""Writes expressions for the parameters of a function in its code."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.writing.parentheses import wrapped
from typed_nnx_codegen.migrate.linen.writing.replacing import KeepingNames

_NOTHING = object()


@dataclass
class Arguments:
    """What a call gives.

    Attributes:
        by_name: By parameter.
        rest: The arguments for ``*args``.
        keywords: The arguments for ``**kwargs``.
        star: The name of ``*args``.
        double_star: The name of ``**kwargs``.
    """

    by_name: dict[str, cst.BaseExpression] = field(default_factory=dict)
    rest: list[cst.Arg] = field(default_factory=list)
    keywords: list[cst.Arg] = field(default_factory=list)
    star: str = ""
    double_star: str = ""


class Substituting(KeepingNames):
    """Writes other expressions for names.

    Args:
        arguments: What parameters stand for.
        local: What locals stand for.
    """

    def __init__(self, arguments: Arguments, local: Mapping[str, cst.BaseExpression]) -> None:
        super().__init__()
        self._arguments = arguments
        self._values = {**arguments.by_name, **local}

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        """Write the arguments that the function was given beyond its parameters."""
        args: list[cst.Arg] = []
        one = self._arguments
        for before, arg in zip(original_node.args, updated_node.args, strict=True):
            name = before.value.value if isinstance(before.value, cst.Name) else ""
            if arg.star == "*" and name and name == one.star:
                args += one.rest
            elif arg.star == "**" and name and name == one.double_star:
                args += one.keywords
            else:
                args.append(arg)
        if args != list(updated_node.args):
            args = [arg.with_changes(comma=cst.MaybeSentinel.DEFAULT) for arg in args]
            return updated_node.with_changes(args=args)
        return updated_node

    def leave_Comparison(
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        """Decide a comparison of literals."""
        return decided(updated_node)

    def leave_If(
        self, original_node: cst.If, updated_node: cst.If
    ) -> cst.If | cst.RemovalSentinel | cst.FlattenSentinel[cst.BaseStatement]:
        """Leave out branches that are not taken."""
        truth = truth_of(updated_node.test)
        if truth is None:
            return updated_node
        orelse = updated_node.orelse
        body: list[cst.CSTNode] = []
        if truth:
            body = list(updated_node.body.body)
        elif isinstance(orelse, cst.Else):
            body = list(orelse.body.body)
        elif orelse is not None:
            body = [orelse]
        found = [one for one in body if isinstance(one, cst.BaseStatement)]
        return cst.FlattenSentinel(found) if found else cst.RemoveFromParent()

    def leave_IfExp(self, original_node: cst.IfExp, updated_node: cst.IfExp) -> cst.BaseExpression:
        """Write the side that is taken."""
        truth = truth_of(updated_node.test)
        if truth is None:
            return updated_node
        return updated_node.body if truth else updated_node.orelse

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        """Write what a name stands for."""
        value = self._values.get(original_node.value)
        if value is None:
            return updated_node
        return value if isinstance(value, cst.Integer | cst.Float) else wrapped(value)


def truth_of(node: cst.BaseExpression) -> bool | None:
    """Return whether a literal is true; None for other expressions."""
    match node:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            truth = truth_of(inner)
            return None if truth is None else not truth
    value = _literal(node)
    return None if value is _NOTHING else bool(value)


def decided(node: cst.Comparison) -> cst.BaseExpression:
    """Return what a comparison of literals gives; the comparison where it is of other things."""
    match node:
        case cst.Comparison(
            left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=right)]
        ):
            one, other = _literal(left), _literal(right)
            if one is _NOTHING or other is _NOTHING:
                return node
            if isinstance(operator, cst.Equal | cst.Is):
                return cst.Name(str(one == other))
            if isinstance(operator, cst.NotEqual | cst.IsNot):
                return cst.Name(str(one != other))
            if isinstance(operator, cst.In | cst.NotIn) and isinstance(other, tuple | list):
                return cst.Name(str((one in other) == isinstance(operator, cst.In)))
    return node


def _literal(node: cst.BaseExpression) -> object:
    try:
        value: object = ast.literal_eval(code_of(node).strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return _NOTHING
    return value
