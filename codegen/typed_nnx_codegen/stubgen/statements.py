"""Assignments and conditional statements in stubs, and the text of what stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

ELLIPSIS = cst.Expr(cst.Ellipsis())

# What makes a type variable or an alias: the assignment stays as it is.
_MAKERS = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple", "NewType", "NamedTuple", "TypedDict"})


def code_of(node: cst.CSTNode) -> str:
    """Return the text of a node, without the lines and comments around it."""
    return cst.Module([]).code_for_node(node).strip("\n") + "\n"


def unconditional(
    body: Sequence[cst.BaseStatement | cst.BaseSmallStatement],
) -> Iterator[cst.BaseStatement]:
    """Yield statements as a type checker sees them: with those under ``if TYPE_CHECKING``."""
    for statement in body:
        if isinstance(statement, cst.If):
            condition = code_of(statement.test).strip()
            if condition == "TYPE_CHECKING":
                yield from unconditional(statement.body.body)
            elif condition == "not TYPE_CHECKING" and isinstance(statement.orelse, cst.Else):
                yield from unconditional(statement.orelse.body.body)
        elif isinstance(statement, cst.BaseStatement):
            yield statement


def small(statement: cst.BaseStatement) -> cst.BaseSmallStatement | None:
    """Return the one small statement of a line."""
    if isinstance(statement, cst.SimpleStatementLine):
        return statement.body[0]
    return None


def assigned_name(statement: cst.BaseStatement) -> str | None:
    """Return the name that a statement assigns, if it is one by itself."""
    inner = small(statement)
    if isinstance(inner, cst.AnnAssign):
        target: cst.BaseExpression = inner.target
    elif isinstance(inner, cst.Assign) and len(inner.targets) == 1:
        target = inner.targets[0].target
    else:
        return None
    return target.value if isinstance(target, cst.Name) else None


def assignment_stub(statement: cst.BaseStatement, module: str) -> str:
    """Return the stub of an assignment at the top level of a module."""
    inner = small(statement)
    name = assigned_name(statement)
    if isinstance(inner, cst.AnnAssign):
        annotation = code_of(inner.annotation.annotation).strip()
        if annotation.endswith("TypeAlias") and inner.value is not None:
            return f"{name}: {annotation} = {code_of(inner.value).strip()}\n"
        return f"{name}: {annotation}\n"
    assert isinstance(inner, cst.Assign)
    value = inner.value
    if isinstance(value, cst.Name) or _is_maker(value):
        return f"{name} = {code_of(value).strip()}\n"
    return f"{name}: {_type_of(value)}\n"


def _is_maker(value: cst.BaseExpression) -> bool:
    return (
        isinstance(value, cst.Call)
        and isinstance(value.func, cst.Name)
        and value.func.value in _MAKERS
    )


def _type_of(value: cst.BaseExpression) -> str:
    """Return the type of a constant; what is not plain is an object, and needs an annotation."""
    if isinstance(value, cst.SimpleString | cst.ConcatenatedString | cst.FormattedString):
        return "str"
    return "int" if isinstance(value, cst.Integer) else "object"
