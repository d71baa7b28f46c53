"""``nnx-static-args``: static and donated arguments that do not exist, cannot be, or are missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mypy.nodes import Context

from typed_nnx_mypy.call import Argument, Call
from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.errorcodes import STATIC_ARGS
from typed_nnx_mypy.models.arguments import is_unhashable, is_untraceable
from typed_nnx_mypy.models.filters import Everything
from typed_nnx_mypy.models.kinds import Kind, kind_of, short_name
from typed_nnx_mypy.models.leaves import is_present
from typed_nnx_mypy.registry import on_call
from typed_nnx_mypy.syntax.constants import items_of
from typed_nnx_mypy.syntax.parameters import Function, Parameter, definition_of
from typed_nnx_mypy.syntax.transforms import (
    PARTIAL,
    Transform,
    bound_count,
    transform_behind,
    transform_of,
)

JITS: Final = ("jit", "jit_partial", "jax.jit")
MAPS: Final = ("pmap", "jax.pmap")
REMATS: Final = ("remat", "jax.checkpoint")

DONATED: Final = ("donate_argnums", "donate_argnames")
_NUMBERS: Final = ("static_argnums", "static_broadcasted_argnums", "donate_argnums")
_NAMES: Final = ("static_argnames", "donate_argnames")


@dataclass(frozen=True)
class Options:
    """What options say of arguments.

    Attributes:
        numbers: By position, static and donated: the option, the position, where it is written.
        names: By name, static and donated.
        is_complete: Whether all that is static is known.
        by_position: The parameters that are static when they are given by position.
        by_name: The same by name.
    """

    numbers: list[tuple[str, int, Context]]
    names: list[tuple[str, str, Context]]
    is_complete: bool
    by_position: list[Parameter]
    by_name: list[Parameter]


def _is_among(parameter: Parameter, row: list[Parameter]) -> bool:
    return any(each is parameter for each in row)


def options_of(transform: Transform, checker: Checker) -> Options:
    """Return what the options of a transform say of the arguments of its function."""
    numbers: list[tuple[str, int, Context]] = []
    names: list[tuple[str, str, Context]] = []
    is_complete = True
    for option in (*_NUMBERS, *_NAMES):
        written = transform.option(option)
        if written is None:
            continue
        items = items_of(written, checker)
        if items is None:
            is_complete = is_complete and option in DONATED
            continue
        for item in items:
            if option in _NUMBERS and isinstance(item.value, int):
                numbers.append((option, item.value, item.expression))
            elif option in _NAMES and isinstance(item.value, str):
                names.append((option, item.value, item.expression))
    by_position, by_name = _static(transform, numbers, names)
    return Options(numbers, names, is_complete, by_position, by_name)


def _static(
    transform: Transform,
    numbers: list[tuple[str, int, Context]],
    names: list[tuple[str, str, Context]],
) -> tuple[list[Parameter], list[Parameter]]:
    """Return the parameters that are static by position and by name."""
    function = transform.function
    if function is None:
        return [], []
    at = [function.at(at) for option, at, _ in numbers if option not in DONATED]
    by_position = [each for each in at if each is not None]
    named = [function.named(name) for option, name, _ in names if option not in DONATED]
    by_name = [each for each in named if each is not None]
    # Where only one of the two options is given, jax finds the other in the signature.
    if transform.option("static_argnames") is None:
        by_name = [each for each in by_position if each.name]
    elif transform.option("static_argnums") is None:
        by_position = [each for each in by_name if each.kind.is_positional()]
    return by_position, by_name


_ALL: Final = (*JITS, *MAPS, *REMATS)


# -- where the function is compiled -----------------------------------------------------------


@on_call(*_ALL, PARTIAL)
def options_fit_the_function(call: Call) -> None:
    """Report static and donated arguments that the function has not, or that cannot be."""
    transform = transform_of(call, *_ALL)
    if transform is None or transform.function is None:
        return
    function, options = transform.function, options_of(transform, call.checker)
    _report_missing(call, transform, function, options)
    _report_both(call, transform, function, options)
    _report_static(call, transform, function, options)
    if options.is_complete and not transform.has_stars:
        _report_untraceable(call, transform, function, options)


def _report_missing(call: Call, transform: Transform, function: Function, options: Options) -> None:
    count = len(function.positional)
    for option, number, at in options.numbers:
        is_checked = transform.name not in MAPS or (number >= 0 and option not in DONATED)
        if is_checked and not function.takes_more_by_position and not -count <= number < count:
            call.report(
                STATIC_ARGS,
                f"{transform.title}: `{option}` names argument {number}, but it takes {count} by "
                f"position{_listed(function.positional)}. Fix: {_fix_number(function, number)}",
                at,
            )
    for option, name, at in options.names:
        if not function.takes_more_by_name and function.named(name) is None:
            call.report(
                STATIC_ARGS,
                f"{transform.title}: `{option}` names `{name}`, but there is no such parameter"
                f"{_listed(function.parameters)}. Fix: name one of them, or remove it",
                at,
            )


def _listed(parameters: tuple[Parameter, ...]) -> str:
    names = [each.name or "_" for each in parameters]
    return f" ({', '.join(names)})" if names else ""


def _fix_number(function: Function, number: int) -> str:
    count = len(function.positional)
    named = [each for each in function.parameters if each.kind.is_named()]
    if named and number >= count:
        return f'a keyword-only parameter is given by name, static_argnames="{named[0].name}"'
    return f"count from 0, so name one of 0 to {count - 1}" if count else "remove it"


def _report_both(call: Call, transform: Transform, function: Function, options: Options) -> None:
    if not function.is_exact:
        return
    static = [each for _, each in _chosen(function, options, donated=False)]
    for at, parameter in _chosen(function, options, donated=True):
        if any(each is parameter for each in static):
            call.report(
                STATIC_ARGS,
                f"{transform.title}: `{parameter.name}` is static and donated; only an array has a "
                "buffer to donate. Fix: donate another argument, or none",
                at,
            )


def _chosen(
    function: Function, options: Options, *, donated: bool
) -> list[tuple[Context, Parameter]]:
    """Return the parameters that options name, with the places."""
    found: list[tuple[Context, Parameter | None]] = [
        *[(at, function.at(n)) for o, n, at in options.numbers if (o in DONATED) is donated],
        *[(at, function.named(n)) for o, n, at in options.names if (o in DONATED) is donated],
    ]
    return [(at, parameter) for at, parameter in found if parameter is not None]


def _report_static(call: Call, transform: Transform, function: Function, options: Options) -> None:
    """Report static parameters whose values surely cannot be static."""
    if transform.name in REMATS:
        return  # it hashes nothing
    for at, parameter in _chosen(function, options, donated=False):
        reason = _not_static(call, transform, parameter)
        # A parameter with a default may never be given.
        if reason and parameter.kind.is_required():
            call.report(
                STATIC_ARGS,
                f"{transform.title}: `{parameter.name}` is static, but {reason}",
                at,
            )


def _not_static(call: Call, transform: Transform, parameter: Parameter | Argument) -> str:
    """Return why a value of a type cannot be static, and what to do; empty where it can."""
    found = short_name(parameter.type)
    if is_unhashable(parameter.type):
        fix = (
            "make it an ordinary argument"
            if kind_of(parameter.type) is not None
            else "pass a tuple or another value that has a hash"
        )
        return f"{found} has no hash. Fix: {fix}"
    is_module = kind_of(parameter.type) in (Kind.PYTREE, Kind.LIST, Kind.DICT)
    is_jit = transform.name in JITS
    if is_jit and is_module and is_present(parameter.type, Everything(), call.checker):
        return (
            f"a {found} holds arrays, which would stay as they are in the first call. "
            f"Fix: {_fix_module(transform)}"
        )
    return ""


def _fix_module(transform: Transform) -> str:
    return (
        "use nnx.jit, and make it an ordinary argument"
        if transform.runtime == "jax"
        else "make it an ordinary argument"
    )


def _report_untraceable(
    call: Call, transform: Transform, function: Function, options: Options
) -> None:
    """Report parameters that each call gives, which cannot be traced and are not static."""
    for number, parameter in enumerate(function.parameters):
        is_given = parameter.kind.is_required()
        if (
            is_given
            and is_untraceable(parameter.type)
            and not _is_among(parameter, options.by_position + options.by_name)
        ):
            call.report(
                STATIC_ARGS,
                f"{transform.title}: `{parameter.name}` is {short_name(parameter.type)}, which "
                f"jax cannot trace. Fix: {_fix_untraceable(transform, parameter, number)}",
                transform.given,
            )


def _fix_untraceable(transform: Transform, parameter: Parameter, number: int) -> str:
    if transform.name in MAPS:
        return f"make it static, static_broadcasted_argnums={number}"
    if transform.name in REMATS or not parameter.name:
        return f"make it static, static_argnums={number}"
    return f'make it static, static_argnames="{parameter.name}"'


# -- where the compiled function is called ----------------------------------------------------


@on_call("JitWrapped.__call__", "JitMethod.__call__", "jax.JitWrapped.__call__")
def arguments_fit_the_options(call: Call) -> None:
    """Report what a call of a compiled function gives that cannot be traced, or be static."""
    written = call.expression
    transform = transform_behind(call)
    if written is None or transform is None or transform.name not in JITS:
        return
    options, function = options_of(transform, call.checker), transform.function
    if function is None or not options.is_complete or transform.has_stars:
        return
    offset = bound_count(written.callee, call.checker)
    positional = function.positional
    for number, argument in enumerate(call.positional, start=offset):
        if number < len(positional):
            is_static = _is_among(positional[number], options.by_position)
            _report_argument(call, transform, positional[number], argument, is_static)
    for name in filter(None, written.arg_names):
        parameter, named = function.named(name), call.keyword(name)
        if parameter is not None and named is not None:
            is_static = _is_among(parameter, options.by_name)
            _report_argument(call, transform, parameter, named, is_static)


def _report_argument(
    call: Call, transform: Transform, parameter: Parameter, argument: Argument, is_static: bool
) -> None:
    name = parameter.name or "the argument"
    if is_static:
        reason = _not_static(call, transform, argument)
        is_reported = parameter.kind.is_required() and _not_static(call, transform, parameter)
        if reason and not is_reported:
            call.report(
                STATIC_ARGS,
                f"{transform.title}: `{name}` is static, but {reason}",
                argument.expression,
            )
        return
    is_known = parameter.kind.is_required() and is_untraceable(parameter.type)
    if not is_known and _is_untraceable(call, argument):
        call.report(
            STATIC_ARGS,
            f"{transform.title}: `{name}` is given {short_name(argument.type)}, which jax cannot "
            f'trace. Fix: make it static, static_argnames="{name}"',
            argument.expression,
        )


def _is_untraceable(call: Call, argument: Argument) -> bool:
    if is_untraceable(argument.type):
        return True
    # A callable may be a Module; a function that is written is none.
    return definition_of(argument.expression, call.checker) is not None
