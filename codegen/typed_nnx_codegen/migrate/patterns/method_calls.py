"""Calls of methods that are functions now: ``m.clone()`` is ``nnx.clone(m)``."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import class_derives
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.analysis.values import NNX, External, Instance, ProjectClass
from typed_nnx_codegen.migrate.file import File

_ENDS_OF_CALLS = (cst.Await, cst.Yield, cst.NamedExpr, cst.Call, cst.BaseComp)


def function_call(
    public: str, file: File, updated: cst.Call, keep: tuple[cst.Arg, ...] | None = None
) -> cst.Call:
    """Return a call of a function instead of a method, with the object as the first argument.

    Args:
        public: The function.
        file: The file.
        updated: The call of the method.
        keep: The arguments that stay; None for all.
    """
    assert isinstance(updated.func, cst.Attribute)
    args = tuple(updated.args) if keep is None else keep
    receiver = cst.Arg(updated.func.value, whitespace_after_arg=_comment_at(updated.func.dot))
    if args:
        receiver = receiver.with_changes(comma=_first_comma(updated))
    elif updated.args:
        # What is left has no comma of an argument that is gone.
        updated = updated.with_changes(whitespace_before_args=cst.SimpleWhitespace(""))
    return updated.with_changes(func=file.refer(public), args=[receiver, *args])


def _comment_at(dot: cst.Dot) -> cst.BaseParenthesizableWhitespace:
    """Return the space around a dot if there is a comment in it, and none otherwise."""
    for space in (dot.whitespace_before, dot.whitespace_after):
        if isinstance(space, cst.ParenthesizedWhitespace) and "#" in code_of(space):
            return space
    return cst.SimpleWhitespace("")


def _first_comma(call: cst.Call) -> cst.Comma:
    """Return a comma after which the next argument has a line of its own if the others have."""
    space = call.whitespace_before_args
    comma = call.args[0].comma
    is_alone = isinstance(comma, cst.Comma) and isinstance(
        comma.whitespace_after, cst.ParenthesizedWhitespace
    )
    if is_alone and isinstance(space, cst.ParenthesizedWhitespace):
        space = space.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=())
        return cst.Comma(whitespace_after=space)
    return cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def loses_comment(call: cst.Call) -> bool:
    """Whether there are comments on both sides of the dot of a method: one would be lost."""
    if not isinstance(call.func, cst.Attribute):
        return False
    dot = call.func.dot
    return all("#" in code_of(space) for space in (dot.whitespace_before, dot.whitespace_after))


def is_quick(node: cst.CSTNode) -> bool:
    """Whether evaluating an expression runs nothing: names, attributes, literals of them."""
    return not any(isinstance(below, _ENDS_OF_CALLS) for below in descendants(node))


def is_filter_of_nnx(file: File, node: cst.BaseExpression) -> bool:
    """Whether an expression surely is a filter of NNX: ``nnx.Param``, ``...``, a class of Variables."""
    if isinstance(node, cst.Ellipsis):
        return True
    value = file.value(node)
    if isinstance(value, External):
        name = value.public.removeprefix(f"{NNX}.")
        return name != value.public and name[:1].isupper()
    if isinstance(value, ProjectClass):
        return class_derives(value, "Variable") is True
    if isinstance(value, Instance):
        return isinstance(value.cls, str) and value.cls in {"nnx.All", "nnx.Any", "nnx.Not"}
    return False
