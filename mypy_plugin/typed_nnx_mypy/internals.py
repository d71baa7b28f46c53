"""What is used of mypy that is neither its plugin interface nor its trees and types.

All of it is here, since a release of mypy may change it: tested with mypy 2.2 to 2.4. ``make test-mypy``
tries another version, and has mypy itself say which of these names it does not have any more.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager

from mypy.checker import TypeChecker
from mypy.errorcodes import ErrorCode
from mypy.nodes import ArgKind, Context, Expression, FuncDef, LambdaExpr, TypeInfo, Var
from mypy.plugin import SemanticAnalyzerPluginInterface
from mypy.plugins.dataclasses import DataclassTransformer as DataclassTransformer
from mypy.plugins.dataclasses import (
    dataclass_class_maker_callback as dataclass_class_maker_callback,
)
from mypy.plugins.dataclasses import dataclass_makers as dataclass_makers
from mypy.plugins.functools import partial_call_callback as partial_call_callback
from mypy.plugins.functools import partial_new_callback as partial_new_callback
from mypy.semanal import SemanticAnalyzer
from mypy.server.trigger import make_wildcard_trigger
from mypy.types import Type

# -- where the checker is -----------------------------------------------------------------------


def current_class(api: TypeChecker) -> TypeInfo | None:
    """Return the innermost class whose body or method is being checked."""
    return api.scope.current_class()


def class_of_body(api: TypeChecker) -> TypeInfo | None:
    """Return the class whose body, and no method of it, is being checked."""
    return api.scope.active_class()


def functions_around(api: TypeChecker) -> list[object]:
    """Return the functions that are being checked, the innermost last, with classes and the file."""
    return [*api.scope.stack]


def current_round(api: TypeChecker) -> object:
    """Return what is another object whenever the daemon checks a part of the file again."""
    return api.scope


def expected_type(api: TypeChecker) -> Type | None:
    """Return the type that is expected of the expression that is being checked; None for any."""
    return api.expr_checker.type_context[-1]


# -- what is checked again ----------------------------------------------------------------------


def is_deferred(api: TypeChecker) -> bool:
    """Tell whether the function that is being checked will be checked again, for more types."""
    return api.current_node_deferred


def defer(api: TypeChecker) -> bool:
    """Have the function that is being checked checked again, unless that was done before."""
    node = api.scope.top_level_function()
    if api.pass_num >= api.last_pass or not isinstance(node, FuncDef):
        return False
    api.handle_cannot_determine_type("", node)
    return True


def depend_on(api: TypeChecker, class_name: str) -> None:
    """Have the daemon check again what is being checked, when a class changes."""
    trigger = make_wildcard_trigger(class_name)
    api.tree.plugin_deps.setdefault(trigger, set()).add(api.tscope.current_target())


# -- types --------------------------------------------------------------------------------------


def type_of(api: TypeChecker, expression: Expression) -> Type:
    """Return the type of an expression without a report of what is wrong in it."""
    with api.msg.filter_errors():
        return api.get_expression_type(expression)


def type_as(api: TypeChecker, expression: Expression, expected: Type) -> Type:
    """Return the type that an expression has where another one is expected of it."""
    with api.msg.filter_errors(), api.local_type_map:
        return api.expr_checker.accept(expression, expected)


def type_of_call(
    api: TypeChecker,
    callee: Type,
    actual: list[tuple[Expression, ArgKind, str | None]],
    context: Context,
) -> Type | None:
    """Return the type of a call that is nowhere written; None where the arguments do not fit."""
    with api.msg.filter_errors() as errors:
        found, _ = api.expr_checker.check_call(
            callee=callee,
            args=[expression for expression, _, _ in actual],
            arg_kinds=[kind for _, kind, _ in actual],
            arg_names=[name for _, _, name in actual],
            context=context,
        )
    return None if errors.has_new_errors() else found


def set_fullname(variable: Var, fullname: str) -> None:
    """Give a variable that was made its full name."""
    variable._fullname = fullname  # pyright: ignore[reportPrivateUsage]  # no other way


# -- errors -------------------------------------------------------------------------------------


def note_in_analysis(
    api: SemanticAnalyzerPluginInterface, message: str, context: Context, code: ErrorCode
) -> None:
    """Add a note while mypy still finds out what names stand for."""
    if isinstance(api, SemanticAnalyzer):
        api.note(message, context, code=code)


@contextmanager
def past_watchers(api: TypeChecker) -> Generator[None]:
    """Let errors be reported also where mypy holds them back, as it does while it tries variants."""
    errors = api.errors
    held_back = errors._watchers  # pyright: ignore[reportPrivateUsage]  # no public way
    errors._watchers = []  # pyright: ignore[reportPrivateUsage]  # no public way
    try:
        yield
    finally:
        errors._watchers = held_back  # pyright: ignore[reportPrivateUsage]  # no public way


def is_trying_in_lambda(api: TypeChecker) -> bool:
    """Tell whether mypy tries variants of a function in a lambda, whose parameters may not fit."""
    held_back = api.errors._watchers  # pyright: ignore[reportPrivateUsage]  # no public way
    return bool(held_back) and isinstance(api.scope.current_function(), LambdaExpr)


def new_errors_are_held_back(api: TypeChecker) -> bool:
    """Tell whether a variant that mypy tries does not fit."""
    watchers = api.errors._watchers  # pyright: ignore[reportPrivateUsage]  # no public way
    return bool(watchers) and watchers[-1].has_new_errors()


def error_lines(api: TypeChecker) -> Iterator[tuple[int, ErrorCode | None]]:
    """Yield the line and code of each error in the file that is being checked."""
    for info in api.errors.error_info_map.get(api.errors.file, ()):
        if info.severity == "error":
            yield info.line, info.code
