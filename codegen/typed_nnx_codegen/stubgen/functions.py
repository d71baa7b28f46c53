"""Functions in stubs: their signatures."""

from __future__ import annotations

import re

import libcst as cst
import libcst.matchers as m

from typed_nnx_codegen.stubgen.statements import ELLIPSIS

# Decorators that say something about the type; the others are about the body.
_KEPT = frozenset(
    {"overload", "property", "classmethod", "staticmethod", "abstractmethod", "final", "override"}
    | {"cached_property", "contextmanager", "setter", "deleter", "deprecated"}
)

_LITERAL = (
    m.Name(value=m.MatchIfTrue(lambda name: name in ("None", "True", "False")))
    | m.Integer()
    | m.Float()
    | m.SimpleString()
    | m.UnaryOperation(operator=m.Minus(), expression=m.Integer() | m.Float())
    | m.Tuple(elements=[])
)


class _Defaults(cst.CSTTransformer):
    """Takes comments away, and the values of defaults that are not plain."""

    def leave_Param(self, original_node: cst.Param, updated_node: cst.Param) -> cst.Param:
        default = updated_node.default
        if default is None or m.matches(default, _LITERAL):
            return updated_node
        return updated_node.with_changes(default=cst.Ellipsis())

    def leave_TrailingWhitespace(
        self, original_node: cst.TrailingWhitespace, updated_node: cst.TrailingWhitespace
    ) -> cst.TrailingWhitespace:
        return updated_node.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))

    def leave_EmptyLine(
        self, original_node: cst.EmptyLine, updated_node: cst.EmptyLine
    ) -> cst.EmptyLine | cst.RemovalSentinel:
        return updated_node if updated_node.comment is None else cst.RemoveFromParent()


def decorator_name(decorator: cst.Decorator) -> str:
    """Return the last part of the name of a decorator."""
    found = decorator.decorator
    if isinstance(found, cst.Call):
        found = found.func
    if isinstance(found, cst.Attribute):
        found = found.attr
    return found.value if isinstance(found, cst.Name) else ""


def is_overload(function: cst.FunctionDef) -> bool:
    """Whether a function is one of several signatures."""
    return any(decorator_name(found) == "overload" for found in function.decorators)


def _ignored(function: cst.FunctionDef) -> cst.TrailingWhitespace:
    """Return the end of a line with what pyright is not to report about a signature, if anything."""
    body = function.body
    if isinstance(body, cst.IndentedBlock):
        comment = body.header.comment
    else:
        assert isinstance(body, cst.SimpleStatementSuite)
        comment = body.trailing_whitespace.comment
    found = re.search(r"# pyright: ignore\[\w+\]", comment.value if comment else "")
    if found is None:
        return cst.TrailingWhitespace()
    return cst.TrailingWhitespace(cst.SimpleWhitespace("  "), cst.Comment(found[0]))


def function_stub(function: cst.FunctionDef) -> cst.FunctionDef:
    """Return a function without its body, comments and the decorators that only concern it."""
    signature = function.with_changes(
        body=cst.SimpleStatementSuite([ELLIPSIS], trailing_whitespace=_ignored(function)),
        decorators=[d for d in function.decorators if decorator_name(d) in _KEPT],
        leading_lines=(),
        lines_after_decorators=(),
    )
    cleaned = signature.visit(_Defaults())
    assert isinstance(cleaned, cst.FunctionDef)
    return cleaned.with_changes(body=signature.body)
