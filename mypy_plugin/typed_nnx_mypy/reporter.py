"""The type checker of one file, as checks use it: with the settings, and with reports."""

from __future__ import annotations

from typing import Final

from mypy import nodes
from mypy.errorcodes import ErrorCode
from mypy.nodes import CallExpr, Context, Expression, Node
from mypy.plugin import CheckerPluginInterface

from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_mypy.config import Config
from typed_nnx_mypy.errorcodes import DEPRECATED, NNX

_RAISES: Final = frozenset({"assertRaises", "assertRaisesRegex", "raises", "suppress"})


class Reporter(Checker):
    """The type checker of one file, to which checks report what they find.

    Args:
        api: What mypy gives to a hook.
        config: The settings of the plugin.

    Attributes:
        has_reported: Whether a mistake was reported by this object.
    """

    def __init__(self, api: CheckerPluginInterface, config: Config) -> None:
        super().__init__(api)
        self.config: Final = config
        self.has_reported = False

    def report(self, code: ErrorCode, message: str, context: Context) -> None:
        """Report a finding of a check, unless it is switched off or the file is a runtime's.

        mypy holds back the errors that it meets while it tries the variants of an overloaded
        function, and takes them as a sign that a variant does not fit. A finding of the plugin
        says nothing about the variant, so it goes past: except in a lambda, whose parameters may
        have types of a variant that is not the one.
        """
        self._say(self.config.of(code.code), code, message, context)

    def report_open(self, message: str, context: Context) -> None:
        """Say where a check is quiet, if the settings ask for it."""
        if self.config.report_open:
            self._say("note", NNX, message, context)

    def _say(self, severity: str, code: ErrorCode, message: str, context: Context) -> None:
        if severity == "off" or self.is_of_runtime():
            return
        if self.is_deferred or self.is_looking_ahead:
            return  # mypy gets there later
        if isinstance(context, Node) and any(map(_asks_for_exception, self.above(context))):
            return  # a test of errors
        if self.is_trying_in_lambda:
            return
        with self.past_watchers():
            if severity == "note":
                self.api.note(message, context, code=code)
            else:
                self.has_reported |= code is not DEPRECATED
                self.api.fail(message, context, code=code)

    def is_expected_to_fail(self, context: Context) -> bool:
        """Tell whether something stands where an exception is caught or asked for."""
        above = list(self.above(context)) if isinstance(context, Node) else []
        return any(
            _asks_for_exception(e) or (isinstance(e, nodes.TryStmt) and e.handlers) for e in above
        )

    def has_error(self, context: Context) -> bool:
        """Tell whether mypy itself has found an error in the lines of an expression.

        That is also so where mypy tries a variant of an overloaded function that does not fit.
        """
        if self.new_errors_are_held_back:
            return True
        if not isinstance(context, Expression):
            return False
        last = context.end_line if context.end_line is not None else context.line
        codes = [code for line, code in self.error_lines if context.line <= line <= last]
        return any(code is None or not code.code.startswith("nnx") for code in codes)


def _asks_for_exception(node: Node) -> bool:
    """Tell whether a statement is ``with pytest.raises(...):`` or alike."""
    callees = (
        (e.callee for e in node.expr if isinstance(e, CallExpr))
        if isinstance(node, nodes.WithStmt)
        else ()
    )
    return any(
        isinstance(e, nodes.NameExpr | nodes.MemberExpr) and e.name in _RAISES for e in callees
    )
