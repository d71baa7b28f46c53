"""Functions of a project that return one of several classes: `norm_of(self.kind)(epsilon=1e-3)(x)`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, ProjectFunction, Value
from typed_nnx_codegen.migrate.linen.builders.borrowed_names import is_same_name
from typed_nnx_codegen.migrate.linen.builders.finding import first_parameter
from typed_nnx_codegen.migrate.linen.builders.inlining import (
    NotInlined,
    arguments_of,
    as_expression,
)
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass


@dataclass(frozen=True)
class Returned:
    """What a call of such a function is.

    Attributes:
        expression: The class, as an expression where the function is called.
        values: What names and attributes in it stand for, by their code.
    """

    expression: cst.BaseExpression
    values: Mapping[str, Value] = field(default_factory=dict)


def returned_class(
    call: cst.Call,
    cls: LinenClass,
    owner: str,
    every: Iterable[LinenClass],
    home_of: Mapping[cst.CSTNode, Analysis],
) -> Returned | None:
    """Return what a call of a function of the project gives; None where it cannot be written.

    Args:
        call: The call.
        cls: The module in whose method it is.
        owner: The name of the object in the method.
        every: The modules of the project.
        home_of: The files that define functions.
    """
    found = _function(call.func, cls, owner, every)
    if found is None or not all(_is_plain(one.value) for one in call.args):
        return None
    function, given = found
    home = home_of.get(function)
    if home is None:
        return None
    first = first_parameter(function) if given is not None else ""
    try:
        expression = as_expression(function, arguments_of(function, call, first, given))
    except NotInlined:
        return None
    names = {one.value for one in descendants(function.body) if isinstance(one, cst.Name)}
    read = {
        one.value for one in (expression, *descendants(expression)) if isinstance(one, cst.Name)
    }
    if not all(
        is_same_name(name, home, cls.analysis) for name in names & read if _is_of_file(name, home)
    ):
        return None
    return Returned(expression, _values_in(function, home))


def _function(
    node: cst.BaseExpression, cls: LinenClass, owner: str, every: Iterable[LinenClass]
) -> tuple[cst.FunctionDef, cst.BaseExpression | None] | None:
    """Return the function that is called, and the object where it is a method of it."""
    match node:
        case cst.Attribute(value=cst.Name(value=name) as given, attr=attr) if name == owner:
            method = cls.methods().get(attr.value)
            derived = (one for one in every if one is not cls and cls in one.ancestry())
            is_other = any(attr.value in one.own_methods for one in derived)
            if method is None or is_other or not method.is_bound or method.decorators:
                return None
            return method.node, given
    value = cls.analysis.values.get(node, UNKNOWN)
    if isinstance(value, ProjectFunction) and isinstance(value.node, cst.FunctionDef):
        return (value.node, None) if not value.node.decorators else None
    return None


def _is_of_file(name: str, home: Analysis) -> bool:
    return name in home.scope.imports or name in home.scope.seen


def _values_in(function: cst.FunctionDef, home: Analysis) -> dict[str, Value]:
    nodes = (one for one in descendants(function.body) if isinstance(one, cst.Name | cst.Attribute))
    return {code_of(one): home.values[one] for one in nodes if one in home.values}


def _is_plain(node: cst.BaseExpression) -> bool:
    """Whether an argument may be written several times."""
    return not any(
        isinstance(one, cst.Call | cst.NamedExpr | cst.Await | cst.Yield)
        for one in (node, *descendants(node))
    )
