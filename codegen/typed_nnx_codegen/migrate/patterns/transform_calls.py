"""Calls of transforms: what they are given, and the function that they transform."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.analysis.values import ProjectFunction, Wrapped
from typed_nnx_codegen.migrate.file import TIGHT_EQUAL, File

PARTIAL = "functools.partial"


@dataclass(frozen=True)
class TransformCall:
    """A call of a transform: ``nnx.grad(f, wrt=F)``, ``@nnx.grad(...)``, ``partial(nnx.grad, ...)``.

    Attributes:
        node: The call, as the analysis knows it.
        name: The transform: ``nnx.grad``.
        first: The position of the first argument that the transform gets.
        function: The function that it transforms; None where that is not in the file.
        is_decorator: Whether it decorates the function.
    """

    node: cst.Call
    name: str
    first: int
    function: cst.FunctionDef | cst.Lambda | None
    is_decorator: bool

    def keyword(self, name: str) -> cst.Arg | None:
        """Return the argument with a keyword; None where there is none."""
        return keyword_of(self.node, name)

    @property
    def has_star(self) -> bool:
        """Whether some arguments are unpacked, so that it is not known what they are."""
        return any(arg.star for arg in self.node.args)

    @property
    def parameters(self) -> list[str] | None:
        """The names of the parameters by position; None where the function is not in the file."""
        if self.function is None or isinstance(self.function.params.star_arg, cst.Param):
            return None
        parameters = self.function.params
        return [one.name.value for one in (*parameters.posonly_params, *parameters.params)]


class TransformCalls:
    """Finds the calls of some transforms.

    Args:
        file: The file.
        names: Their public names.
    """

    def __init__(self, file: File, *names: str) -> None:
        self._file = file
        self._names = names
        self._decorated: dict[cst.CSTNode, cst.FunctionDef] | None = None

    def of(self, call: cst.Call) -> TransformCall | None:
        """Return what a call says where it is one of a transform; else None."""
        name, first = self._file.name(call.func), 0
        if name == PARTIAL and call.args and not call.args[0].star:
            name, first = self._file.name(call.args[0].value), 1
        if name not in self._names:
            return None
        function = self._decorates().get(call)
        if function is not None:
            return TransformCall(call, name, first, function, is_decorator=True)
        given = call.args[first:]
        node = given[0].value if given and given[0].keyword is None else None
        named = keyword_of(call, "f") or keyword_of(call, "fun")
        if node is None and named is not None:
            node = named.value
        return TransformCall(call, name, first, self._definition(node), is_decorator=False)

    def decorator_of(self, function: cst.FunctionDef) -> list[TransformCall]:
        """Return the transforms among the decorators of a function, the outermost first."""
        found = [
            self.of(one.decorator)
            for one in function.decorators
            if isinstance(one.decorator, cst.Call)
        ]
        return [one for one in found if one is not None]

    def _decorates(self) -> dict[cst.CSTNode, cst.FunctionDef]:
        if self._decorated is None:
            self._decorated = {
                decorator.decorator: node
                for node in self._file.analysis.nodes.of(cst.FunctionDef)
                for decorator in node.decorators
            }
        return self._decorated

    def _definition(self, node: cst.BaseExpression | None) -> cst.FunctionDef | cst.Lambda | None:
        if node is None:
            return None
        value = self._file.value(node)
        while isinstance(value, Wrapped) and value.by != PARTIAL:
            value = value.function
        if isinstance(value, ProjectFunction) and value.node in self._file.analysis.scopes:
            return value.node
        return None


def keyword_of(call: cst.Call, name: str) -> cst.Arg | None:
    """Return the argument of a call with a keyword; None where there is none."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == name:
            return arg
    return None


def without_keywords(call: cst.Call, *names: str) -> cst.Call:
    """Return a call without the arguments that have some keywords."""
    kept = [arg for arg in call.args if arg.keyword is None or arg.keyword.value not in names]
    if len(kept) == len(call.args):
        return call
    if kept and kept[-1] is not call.args[-1]:
        kept[-1] = _as_last(kept[-1], call.args[-1])
    return call.with_changes(args=kept)


def _as_last(arg: cst.Arg, last: cst.Arg) -> cst.Arg:
    """Return an argument with what stands behind the last one; its own comment stays."""
    comma = last.comma
    own = arg.comma.whitespace_after if isinstance(arg.comma, cst.Comma) else None
    if isinstance(own, cst.ParenthesizedWhitespace) and own.first_line.comment is not None:
        end = comma.whitespace_after if isinstance(comma, cst.Comma) else None
        last_line = (
            end.last_line
            if isinstance(end, cst.ParenthesizedWhitespace)
            else cst.SimpleWhitespace("")
        )
        comma = cst.Comma(whitespace_after=own.with_changes(empty_lines=(), last_line=last_line))
    return arg.with_changes(comma=comma, whitespace_after_arg=last.whitespace_after_arg)


def with_keyword(call: cst.Call, name: str, value: cst.BaseExpression) -> cst.Call:
    """Return a call with one more keyword at its end, laid out as the arguments before it."""
    return with_argument(call, cst.Arg(value, keyword=cst.Name(name), equal=TIGHT_EQUAL))


def with_argument(call: cst.Call, added: cst.Arg) -> cst.Call:
    """Return a call with one more argument at its end, laid out as the arguments before it."""
    if not call.args:
        return call.with_changes(args=[added])
    *before, last = call.args
    if not isinstance(last.comma, cst.Comma):
        return call.with_changes(args=[*before, *_without_comma_behind(before, call, added)])
    # One argument to a line, with a comma after the last one: the new one gets its own line.
    between = call.whitespace_before_args
    if before and isinstance(before[-1].comma, cst.Comma):
        between = before[-1].comma.whitespace_after
    behind = last.comma.whitespace_after
    ending = last.comma
    if isinstance(behind, cst.ParenthesizedWhitespace):
        # A comment behind the last one stays with it.
        ending = cst.Comma(
            whitespace_after=behind.with_changes(first_line=cst.TrailingWhitespace())
        )
        end = between.last_line if isinstance(between, cst.ParenthesizedWhitespace) else None
        between = behind.with_changes(last_line=end or cst.SimpleWhitespace(" " * 4))
    last = last.with_changes(comma=cst.Comma(whitespace_after=between))
    return call.with_changes(args=[*before, last, added.with_changes(comma=ending)])


def _without_comma_behind(before: list[cst.Arg], call: cst.Call, added: cst.Arg) -> list[cst.Arg]:
    """Return the last argument and the new one, where there is no comma behind the last."""
    last = call.args[-1]
    behind = last.whitespace_after_arg
    between = call.whitespace_before_args
    if before and isinstance(before[-1].comma, cst.Comma):
        between = before[-1].comma.whitespace_after
    end = behind
    gap: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
    if isinstance(behind, cst.ParenthesizedWhitespace) and isinstance(
        between, cst.ParenthesizedWhitespace
    ):
        # One argument to a line; a comment behind the last one stays with it.
        gap = cst.ParenthesizedWhitespace(
            first_line=behind.first_line, indent=between.indent, last_line=between.last_line
        )
        end = behind.with_changes(first_line=cst.TrailingWhitespace())
    last = last.with_changes(
        comma=cst.Comma(whitespace_after=gap), whitespace_after_arg=cst.SimpleWhitespace("")
    )
    return [last, added.with_changes(whitespace_after_arg=end)]


def renamed_keyword(call: cst.Call, old: str, new: str, value: cst.BaseExpression) -> cst.Call:
    """Return a call in which another keyword with another value stands where one was."""
    args = [
        arg.with_changes(keyword=cst.Name(new), value=value)
        if arg.keyword is not None and arg.keyword.value == old
        else arg
        for arg in call.args
    ]
    return call.with_changes(args=args)
