"""Names for results that older code did not name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from keyword import iskeyword

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import children, dotted, text_of
from typed_nnx_codegen.migrate.patterns.result_order import Parents

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def function_around(node: cst.CSTNode, parents: Parents) -> cst.CSTNode:
    """Return the function that a node is in, or the module."""
    while node in parents and not isinstance(node, cst.FunctionDef):
        node = parents[node]
    return node


def free_name(name: str, used: set[str]) -> str:
    """Return a name that nothing uses, and note that it is used now."""
    found, number = name, 2
    while found in used:
        found, number = f"{name}_{number}", number + 1
    used.add(found)
    return found


def names_used(node: cst.CSTNode) -> set[str]:
    """Return the names that code in a node reads or binds; not those of attributes and keywords."""
    found: set[str] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.Name):
            found.add(current.value)
        elif isinstance(current, (cst.Attribute, cst.Arg)):
            stack.append(current.value)
        else:
            stack.extend(children(current))
    return found


def names_of_states(filters: Sequence[cst.BaseExpression]) -> list[str]:
    """Return names for the States of some filters: ``params`` for ``nnx.Param``."""
    if not filters:
        return ["state"]
    return [_name_of(each) for each in filters]


def _name_of(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Ellipsis):
        return "rest"
    text = text_of(node)
    if text is not None:
        return text if text.isidentifier() and not iskeyword(text) else "state"
    last = dotted(node).rpartition(".")[2]
    if not last or not last[:1].isupper():
        return "state"
    words = _HUMP.sub("_", last).lower()
    return words if words.endswith("s") else f"{words}s"
