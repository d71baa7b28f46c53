"""Code of nodes in which other nodes are written differently."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of

# What needs no parentheses before a dot.
_OPERANDS: Final = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)
_PASSED: Final = re.compile(r"__passed(\d+)__")


def passed_token(position: int) -> str:
    """Return the code that stands for an argument of a call as it is written in the end."""
    return f"__passed{position}__"


class Passing(cst.CSTTransformer):
    """Puts arguments where `passed_token` stands for them.

    Args:
        arguments: The arguments.
    """

    def __init__(self, arguments: Sequence[cst.Arg]) -> None:
        super().__init__()
        self._arguments = arguments

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        """Write an argument."""
        found = _PASSED.fullmatch(original_node.value)
        if found is None:
            return updated_node
        value = self._arguments[int(found[1])].value
        if not original_node.lpar or value.lpar or isinstance(value, _OPERANDS):
            return value
        return value.with_changes(lpar=original_node.lpar, rpar=original_node.rpar)


class KeepingNames(cst.CSTTransformer):
    """Changes names of variables: those of attributes and keywords stay as they are."""

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        """Keep the name of an attribute."""
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        """Keep a keyword."""
        return updated_node.with_changes(keyword=original_node.keyword)


class Replacer(cst.CSTTransformer):
    """Writes other code for some nodes.

    Args:
        replacements: The code, by node.
    """

    def __init__(self, replacements: Mapping[cst.CSTNode, str]) -> None:
        super().__init__()
        self._replacements = replacements

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Do not go below what is replaced."""
        return node not in self._replacements

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        """Write a node."""
        code = self._replacements.get(original_node)
        if code is None:
            return updated_node
        return cst.parse_expression(code)  # type: ignore[return-value]  # expressions only


def code_with(node: cst.CSTNode, replacements: Mapping[cst.CSTNode, str]) -> str:
    """Return the code of a node in which others are written differently."""
    after = node.visit(Replacer(replacements))
    assert isinstance(after, cst.CSTNode)
    return code_of(after)
