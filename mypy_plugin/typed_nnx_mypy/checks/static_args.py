"""``nnx-static-args``: static and donated arguments that do not exist, cannot be, or are missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mypy import nodes
from mypy.nodes import CallExpr, Context, Expression, FuncDef, NameExpr, RefExpr

from typed_nnx_codegen.facts.constants import items_of
from typed_nnx_codegen.facts.filters import Everything
from typed_nnx_codegen.facts.kinds import Kind, kind_of, short_name
from typed_nnx_codegen.facts.leaves import is_present
from typed_nnx_codegen.facts.parameters import Function, Parameter, definition_of, is_of_file
from typed_nnx_codegen.facts.targets import argument_of, own_nodes, single_targets
from typed_nnx_mypy.call import Argument, Call
from typed_nnx_mypy.errorcodes import STATIC_ARGS
from typed_nnx_mypy.models.arguments import is_unhashable, is_untraceable
from typed_nnx_mypy.registry import on_call
from typed_nnx_mypy.syntax.transforms import Transform, bound_count, on_transform, transform_behind

JITS: Final = ("jit", "jit_partial", "jax.jit")
MAPS: Final = ("pmap", "jax.pmap")
REMATS: Final = ("remat", "jax.checkpoint")

DONATED: Final = ("donate_argnums", "donate_argnames")
_OPTIONS: Final[dict[str, type[int] | type[str]]] = {
    "static_argnums": int,
    "static_broadcasted_argnums": int,
    "donate_argnums": int,
    "static_argnames": str,
    "donate_argnames": str,
}
_ALL: Final = (*JITS, *MAPS, *REMATS)
# What takes a shape first.
_SHAPED: Final = ("empty", "full", "ones", "zeros")


@dataclass(frozen=True)
class Choice:
    """An argument that an option names.

    Attributes:
        option: The option.
        key: Its position or its name.
        at: Where that is written.
        parameter: The parameter; None where there is none that is known.
    """

    option: str
    key: int | str
    at: Context
    parameter: Parameter | None

    @property
    def is_donated(self) -> bool:
        """Whether the argument is donated, and not static."""
        return self.option in DONATED


@dataclass(frozen=True)
class Options:
    """What options say of arguments.

    Attributes:
        choices: All that they name.
        is_complete: Whether all that is static is known.
        by_position: The parameters that are static when they are given by position.
        by_name: The same by name.
    """

    choices: list[Choice]
    is_complete: bool
    by_position: list[Parameter]
    by_name: list[Parameter]


def _is_among(parameter: Parameter, row: list[Parameter]) -> bool:
    return any(each is parameter for each in row)


def options_of(transform: Transform) -> Options:
    """Return what the options of a transform say of the arguments of its function."""
    function = transform.function
    choices: list[Choice] = []
    is_complete = True
    for option, kind in _OPTIONS.items():
        written = transform.option(option)
        items = items_of(written, transform.checker) if written is not None else []
        is_complete &= items is not None or option in DONATED
        for item in items or ():
            key = item.value
            if isinstance(key, kind):
                parameter = function.chosen(key) if function is not None else None
                choices.append(Choice(option, key, item.expression, parameter))
    static = [(e.key, e.parameter) for e in choices if e.parameter is not None and not e.is_donated]
    by_position = [parameter for key, parameter in static if isinstance(key, int)]
    by_name = [parameter for key, parameter in static if isinstance(key, str)]
    # Where only one of the two options is given, jax finds the other in the signature.
    if transform.option("static_argnames") is None:
        by_name = [each for each in by_position if each.name]
    elif transform.option("static_argnums") is None:
        by_position = [each for each in by_name if each.kind.is_positional()]
    return Options(choices, is_complete, by_position, by_name)


# -- where the function is compiled -----------------------------------------------------------


@on_transform(*_ALL)
def options_fit_the_function(transform: Transform) -> None:
    """Report static and donated arguments that the function has not, or that cannot be."""
    function, options = transform.function, options_of(transform)
    if function is None:
        return
    _report_missing(transform, function, options)
    if function.is_exact:
        _report_both(transform, options)
    if transform.name not in REMATS:  # it hashes nothing
        _report_static(transform, options)
    if options.is_complete and not transform.has_stars:
        _report_untraceable(transform, function, options)
        if transform.name in JITS and all(e.parameter is not None for e in options.choices):
            _report_sizes(transform, function, options)


def _report_missing(transform: Transform, function: Function, options: Options) -> None:
    names = ", ".join(each.name or "_" for each in function.parameters)
    listed = f" ({names})" if names else ""
    for each in options.choices:
        key = each.key
        if each.parameter is not None:
            continue
        if isinstance(key, str) and not function.takes_more_by_name:
            transform.report(
                STATIC_ARGS,
                f"`{each.option}` names `{key}`, but there is no such parameter{listed}. "
                "Fix: name one of them, or remove it",
                each.at,
            )
        elif isinstance(key, int) and not function.takes_more_by_position:
            # pmap does not look at the others.
            if transform.name in MAPS and (key < 0 or each.is_donated):
                continue
            transform.report(
                STATIC_ARGS,
                f"`{each.option}` names argument {key}, but {function.takes}. "
                f"Fix: {_fix_number(function, key)}",
                each.at,
            )


def _fix_number(function: Function, number: int) -> str:
    count = len(function.positional)
    named = [each for each in function.parameters if each.kind.is_named()]
    if named and number >= count:
        return f'a keyword-only parameter is given by name, static_argnames="{named[0].name}"'
    return f"count from 0, so name one of 0 to {count - 1}" if count else "remove it"


def _report_both(transform: Transform, options: Options) -> None:
    static = [e.parameter for e in options.choices if not e.is_donated and e.parameter is not None]
    for each in options.choices:
        if each.is_donated and each.parameter is not None and _is_among(each.parameter, static):
            transform.report(
                STATIC_ARGS,
                f"`{each.parameter.name}` is static and donated; only an array has a "
                "buffer to donate. Fix: donate another argument, or none",
                each.at,
            )


def _report_static(transform: Transform, options: Options) -> None:
    """Report static parameters whose values surely cannot be static."""
    for each in options.choices:
        # A parameter with a default may never be given.
        if each.parameter is None or each.is_donated or not each.parameter.kind.is_required():
            continue
        reason = _not_static(transform, each.parameter)
        if reason:
            transform.report(
                STATIC_ARGS, f"`{each.parameter.name}` is static, but {reason}", each.at
            )


def _not_static(transform: Transform, parameter: Parameter | Argument) -> str:
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
    if is_jit and is_module and is_present(parameter.type, Everything(), transform.checker):
        fix = "use nnx.jit, and " * (transform.runtime == "jax") + "make it an ordinary argument"
        return f"a {found} holds arrays, which would stay as they are in the first call. Fix: {fix}"
    return ""


def _report_untraceable(transform: Transform, function: Function, options: Options) -> None:
    """Report parameters that each call gives, which cannot be traced and are not static."""
    for number, parameter in enumerate(function.parameters):
        is_given = parameter.kind.is_required()
        if (
            is_given
            and is_untraceable(parameter.type)
            and not _is_among(parameter, options.by_position + options.by_name)
        ):
            transform.report(
                STATIC_ARGS,
                f"`{parameter.name}` is {short_name(parameter.type)}, which "
                f"jax cannot trace. Fix: {_fix_untraceable(transform, parameter, number)}",
                transform.given,
            )


def _fix_untraceable(transform: Transform, parameter: Parameter, number: int) -> str:
    if transform.name in MAPS:
        return f"make it static, static_broadcasted_argnums={number}"
    if transform.name in REMATS or not parameter.name:
        return f"make it static, static_argnums={number}"
    return f'make it static, static_argnames="{parameter.name}"'


def _report_sizes(transform: Transform, function: Function, options: Options) -> None:
    """Report numbers that each call gives, are traced, and are asked for as sizes."""
    definition = function.definition
    if not isinstance(definition, FuncDef) or not is_of_file(definition, transform.checker):
        return
    static = options.by_position + options.by_name
    traced = {
        each.name
        for each in function.parameters
        if each.kind.is_required() and short_name(each.type) == "int"
        if not _is_among(each, static)
    }
    body = own_nodes(definition)
    targets = [each for node in body for each in single_targets(node)]
    again = {each.name.rstrip("'") for each in targets if isinstance(each, NameExpr)}
    for name in sorted(traced - again):
        for node in body:
            size = _size_in(node, name) if isinstance(node, CallExpr) else None
            around = transform.checker.above(size) if size is not None else ()
            is_sure = not any(isinstance(e, nodes.IfStmt | nodes.TryStmt) for e in around)
            if size is not None and is_sure:
                transform.report(
                    STATIC_ARGS,
                    f"`{name}` is traced, so it cannot be a shape or the bound of a range. "
                    f'Fix: make it static, static_argnames="{name}"',
                    size,
                )
                return


def _size_in(call: CallExpr, name: str) -> Expression | None:
    """Return where a call takes a name for a size."""
    if not isinstance(call.callee, RefExpr):
        return None
    module, _, last = call.callee.fullname.rpartition(".")
    if call.callee.fullname == "builtins.range":
        given = call.args
    elif module.partition(".")[0] == "jax" and last in _SHAPED:
        given = [e for e in (argument_of(call, "shape", 0),) if e is not None]
    else:
        return None
    items = [
        part
        for e in given
        for part in (e.items if isinstance(e, nodes.TupleExpr | nodes.ListExpr) else [e])
    ]
    return next((each for each in items if isinstance(each, NameExpr) and each.name == name), None)


# -- where the compiled function is called ----------------------------------------------------


@on_call("JitWrapped.__call__", "JitMethod.__call__", "jax.JitWrapped.__call__")
def arguments_fit_the_options(call: Call) -> None:
    """Report what a call of a compiled function gives that cannot be traced, or be static."""
    written = call.expression
    transform = transform_behind(call)
    if written is None or transform is None or transform.name not in JITS:
        return
    options, function = options_of(transform), transform.function
    if function is None or not options.is_complete or transform.has_stars:
        return
    offset = bound_count(written.callee, call.checker)
    positional = function.positional
    for number, argument in enumerate(call.positional, start=offset):
        if number < len(positional):
            is_static = _is_among(positional[number], options.by_position)
            _report_argument(transform, positional[number], argument, is_static)
    for name, named in call.named.items():
        parameter = function.named(name)
        if parameter is not None:
            is_static = _is_among(parameter, options.by_name)
            _report_argument(transform, parameter, named, is_static)


def _report_argument(
    transform: Transform, parameter: Parameter, argument: Argument, is_static: bool
) -> None:
    name = parameter.name or "the argument"
    if is_static:
        reason = _not_static(transform, argument)
        is_reported = parameter.kind.is_required() and _not_static(transform, parameter)
        if reason and not is_reported:
            transform.report(STATIC_ARGS, f"`{name}` is static, but {reason}", argument.expression)
        return
    is_known = parameter.kind.is_required() and is_untraceable(parameter.type)
    # A callable may be a Module; a function that is written is none.
    definition = definition_of(argument.expression, transform.checker)
    if not is_known and (is_untraceable(argument.type) or definition is not None):
        transform.report(
            STATIC_ARGS,
            f"`{name}` is given {short_name(argument.type)}, which jax cannot "
            f'trace. Fix: make it static, static_argnames="{name}"',
            argument.expression,
        )
