"""The names that functions and comprehensions bind."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants

_BINDING = (
    cst.AssignTarget,
    cst.AnnAssign,
    cst.AugAssign,
    cst.NamedExpr,
    cst.For,
    cst.CompFor,
)


def bound_in(node: cst.FunctionDef) -> Iterator[str]:
    """Yield the names that a function binds."""
    for below in descendants(node):
        if isinstance(below, cst.Param | cst.FunctionDef):
            yield below.name.value
        elif isinstance(below, _BINDING):
            yield from (name.value for name in _names(below.target))


def targets_of(comprehension: cst.CompFor) -> frozenset[str]:
    """Return the names that a comprehension binds."""
    names = {one.value for one in _names(comprehension.target)}
    inner = comprehension.inner_for_in
    return frozenset(names) | (targets_of(inner) if inner is not None else frozenset())


def _names(node: cst.BaseExpression) -> list[cst.Name]:
    if isinstance(node, cst.Name):
        return [node]
    if isinstance(node, (cst.Tuple, cst.List)):
        return [name for element in node.elements for name in _names(element.value)]
    return []
