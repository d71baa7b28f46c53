"""What is used of mypy that is neither its plugin interface nor its trees and types.

All of it is here, since a release of mypy may change it: tested with mypy 2.2 to 2.4. ``make test-mypy``
tries another version, and has mypy itself say which of these names it does not have any more.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Generator
from contextlib import contextmanager
from typing import Final

from mypy.checker import TypeChecker
from mypy.checker_state import checker_state
from mypy.checkexpr import has_erased_component as has_erased_component
from mypy.errorcodes import ErrorCode
from mypy.errors import ErrorInfo as ErrorInfo
from mypy.errors import Errors, ErrorWatcher
from mypy.nodes import ArgKind, Context, Expression, FuncDef, LambdaExpr, TypeInfo, Var
from mypy.plugin import CheckerPluginInterface, SemanticAnalyzerPluginInterface
from mypy.plugins.dataclasses import DataclassTransformer as DataclassTransformer
from mypy.plugins.dataclasses import (
    dataclass_class_maker_callback as dataclass_class_maker_callback,
)
from mypy.plugins.dataclasses import dataclass_makers as dataclass_makers
from mypy.plugins.functools import partial_call_callback as partial_call_callback
from mypy.plugins.functools import partial_new_callback as partial_new_callback
from mypy.semanal import SemanticAnalyzer
from mypy.server.trigger import WILDCARD_TAG
from mypy.types import Type


class Internals:
    """What the plugin asks of mypy's type checker that is not in its plugin interface.

    Args:
        api: What mypy gives to a hook.
    """

    def __init__(self, api: CheckerPluginInterface) -> None:
        assert isinstance(api, TypeChecker)
        self.api: Final = api

    # -- where the checker is -------------------------------------------------------------------

    @property
    def current_class(self) -> TypeInfo | None:
        """The innermost class whose body or method is being checked."""
        return self.api.scope.current_class()

    @property
    def functions_around(self) -> list[object]:
        """The functions that are being checked, the innermost last, with classes and the file."""
        return [*self.api.scope.stack]

    @property
    def round(self) -> object:
        """What is another object whenever the daemon checks a part of the file again."""
        return self.api.scope

    @property
    def expected_type(self) -> Type | None:
        """The type that is expected of the expression that is being checked; None for any."""
        return self.api.expr_checker.type_context[-1]

    # -- what is checked again ------------------------------------------------------------------

    @property
    def is_deferred(self) -> bool:
        """Whether the function that is being checked will be checked again, for more types."""
        return self.api.current_node_deferred

    def defer(self) -> bool:
        """Have the function that is being checked checked again, when more types are known.

        Returns:
            Whether that will be; not at the top of a module and not in the last pass.
        """
        node = self.api.scope.top_level_function()
        if self.api.pass_num >= self.api.last_pass or not isinstance(node, FuncDef):
            return False
        self.api.handle_cannot_determine_type("", node)
        return True

    @property
    def has_daemon(self) -> bool:
        """Whether mypy keeps what depends on what."""
        return self.api.options.fine_grained_incremental or self.api.options.cache_fine_grained

    def depend_on(self, name: str) -> None:
        """Have the daemon check again what is being checked, when something in another place changes.

        What a file keeps for plugins is lost where the daemon checks a function alone; what it keeps
        for aliases is not.

        Args:
            name: The full name of a class (of which attributes count), a function or a module.
        """
        known = self.api.tree.alias_deps[self.api.tscope.current_target()]
        known.update((name, name + WILDCARD_TAG))

    # -- types ----------------------------------------------------------------------------------

    def type_of_new(self, expression: Expression, expected: Type | None = None) -> Type:
        """Check an expression now, without a report of what is wrong in it, and return its type.

        Args:
            expression: The expression.
            expected: The type that is expected of it; its own is not kept then.
        """
        with self.api.msg.filter_errors():
            if expected is None:
                return self.api.get_expression_type(expression)
            with self.api.local_type_map:
                return self.api.expr_checker.accept(expression, expected)

    def errors_in(self, expression: Expression) -> list[ErrorInfo]:
        """Check an expression of which nothing is expected, and return what is wrong in it."""
        with self.api.msg.filter_errors(save_filtered_errors=True) as errors:
            self.api.get_expression_type(expression)
        return errors.filtered_errors()

    def type_of_call(
        self, callee: Type, actual: list[tuple[Expression, ArgKind, str | None]], context: Context
    ) -> Type | None:
        """Return the type of a call that is nowhere written; None where the arguments do not fit."""
        found, errors = self.check_call(callee, actual, context)
        return None if errors else found

    def check_call(
        self, callee: Type, actual: list[tuple[Expression, ArgKind, str | None]], context: Context
    ) -> tuple[Type, list[ErrorInfo]]:
        """Return the type of a call that is nowhere written, and what is wrong in it."""
        with self.api.msg.filter_errors(save_filtered_errors=True) as errors:
            found, _ = self.api.expr_checker.check_call(
                callee=callee,
                args=[expression for expression, _, _ in actual],
                arg_kinds=[kind for _, kind, _ in actual],
                arg_names=[name for _, _, name in actual],
                context=context,
            )
        return found, errors.filtered_errors()

    # -- errors ---------------------------------------------------------------------------------

    @contextmanager
    def past_watchers(self) -> Generator[None]:
        """Let errors be reported also where mypy holds them back, as it does while it tries variants."""
        errors = self.api.errors
        held_back = _watchers(errors)
        errors._watchers = []  # pyright: ignore[reportPrivateUsage]  # no public way
        try:
            yield
        finally:
            errors._watchers = held_back  # pyright: ignore[reportPrivateUsage]  # no public way

    @property
    def _held_back(self) -> list[ErrorWatcher]:
        return [each for each in _watchers(self.api.errors) if each not in _READERS]

    @property
    def is_trying_in_lambda(self) -> bool:
        """Whether mypy tries variants of a function in a lambda, whose parameters may not fit."""
        return bool(self._held_back) and isinstance(self.api.scope.current_function(), LambdaExpr)

    @property
    def new_errors_are_held_back(self) -> bool:
        """Whether a variant that mypy tries does not fit."""
        held_back = self._held_back
        return bool(held_back) and held_back[-1].has_new_errors()

    @property
    def error_lines(self) -> list[tuple[int, ErrorCode | None]]:
        """The line and code of each error in the file that is being checked."""
        infos = self.api.errors.error_info_map.get(self.api.errors.file, ())
        return [(info.line, info.code) for info in infos if info.severity == "error"]


# -- errors before they are shown ---------------------------------------------------------------


# The one of the running check, below all those that mypy itself makes.
_READERS: Final[list[ErrorWatcher]] = []


def _watchers(errors: Errors) -> list[ErrorWatcher]:
    return errors._watchers  # pyright: ignore[reportPrivateUsage]  # no public way


def _is_ignored(file: str, info: ErrorInfo, errors: Errors) -> bool:
    """Tell whether a file or a comment has mypy show no such error."""
    known = errors.ignored_lines.get(file, {})
    is_ignored = any(errors.is_ignored_error(line, info, known) for line in info.origin_span)
    return file in errors.ignored_files or is_ignored


def read_errors(
    codes: Container[ErrorCode | None], read: Callable[[CheckerPluginInterface, ErrorInfo], bool]
) -> None:
    """Hand a function errors that mypy is about to show in this run; True leaves one out.

    Args:
        codes: The codes of the errors.
        read: The function. It may change the error.
    """
    api = checker_state.type_checker
    if not isinstance(api, TypeChecker):
        return
    watchers = _watchers(api.errors)
    if watchers and watchers[0] in _READERS:
        return

    def filter_errors(file: str, info: ErrorInfo) -> bool:
        if info.code not in codes:
            return False
        current = checker_state.type_checker
        if not isinstance(current, TypeChecker) or _is_ignored(file, info, current.errors):
            return False
        return read(current, info)

    _READERS[:] = [ErrorWatcher(api.errors, filter_errors=filter_errors)]
    watchers.insert(0, _READERS[0])


# -- while mypy finds out what names stand for --------------------------------------------------


def set_fullname(variable: Var, fullname: str) -> None:
    """Give a variable that was made its full name."""
    variable._fullname = fullname  # pyright: ignore[reportPrivateUsage]  # no other way


def note_in_analysis(
    api: SemanticAnalyzerPluginInterface, message: str, context: Context, code: ErrorCode
) -> None:
    """Add a note while mypy still finds out what names stand for."""
    if isinstance(api, SemanticAnalyzer):
        api.note(message, context, code=code)
