"""The names that functions and comprehensions bind."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants, parameters_of, parts_of

_BINDING = (
    cst.AssignTarget,
    cst.AnnAssign,
    cst.AugAssign,
    cst.NamedExpr,
    cst.For,
    cst.CompFor,
)


def bound_in(node: cst.CSTNode) -> Iterator[str]:
    """Yield the names that are bound below a node, each as often as it is."""
    for below in descendants(node):
        if isinstance(below, cst.Param | cst.FunctionDef):
            yield below.name.value
        elif isinstance(below, _BINDING):
            yield from names_in(below.target)


def own_names(function: cst.FunctionDef | cst.Lambda) -> frozenset[str]:
    """Return the parameters and variables of a function, without those of functions in it."""
    found = {one.name.value for one in parameters_of(function.params)}
    waiting: list[cst.CSTNode] = [function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            found.add(node.name.value)
            continue
        if isinstance(node, cst.Lambda):
            continue
        if isinstance(node, _BINDING):
            found.update(names_in(node.target))
        elif isinstance(node, cst.AsName):
            found.update(names_in(node.name))
        waiting += parts_of(node)
    return frozenset(found)


def targets_of(comprehension: cst.CompFor) -> frozenset[str]:
    """Return the names that a comprehension binds."""
    names = names_in(comprehension.target)
    inner = comprehension.inner_for_in
    return frozenset(names) | (targets_of(inner) if inner is not None else frozenset())


def names_in(target: cst.BaseExpression) -> list[str]:
    """Return the names that a target binds."""
    match target:
        case cst.Name(value=name):
            return [name]
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return [name for element in elements for name in names_in(element.value)]
    return []


def is_plain(node: cst.CSTNode, bound: frozenset[str]) -> bool:
    """Whether an expression is a chain of attributes of a name that is not bound in it."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name) and node.value not in bound
