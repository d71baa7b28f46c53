"""``nnx-argnums`` and ``nnx-has-aux``: what is differentiated, by which arguments, and what comes with it."""

from __future__ import annotations

from typing import Final, TypeAlias

from mypy.nodes import CallExpr, Context, Expression, ListExpr, TupleExpr

from typed_nnx_codegen.facts.constants import constant_of, items_of
from typed_nnx_codegen.facts.kinds import short_name
from typed_nnx_codegen.facts.targets import argument_of
from typed_nnx_mypy.call import Call
from typed_nnx_mypy.errorcodes import ARGNUMS, HAS_AUX
from typed_nnx_mypy.models.arguments import is_not_differentiable
from typed_nnx_mypy.models.structures import Leaf, Row, Structure, Unsure, result_of, text_of
from typed_nnx_mypy.registry import on_call
from typed_nnx_mypy.reporter import Reporter
from typed_nnx_mypy.syntax.transforms import (
    CALLS_OF_GRADIENTS,
    Transform,
    on_transform,
    transform_behind,
    transform_named,
)

_OF_NNX: Final = ("grad", "value_and_grad")
_OF_JAX: Final = ("jax.grad", "jax.hessian", "jax.jacfwd", "jax.jacrev", "jax.value_and_grad")
_ALL: Final = (*_OF_NNX, *_OF_JAX)


_Chosen: TypeAlias = tuple[int, Context]
"""The position of an argument, from the end where it is negative, and where it is written."""


@on_transform(*_ALL)
def differentiated_arguments_exist(transform: Transform) -> None:
    """Report what `argnums` of a gradient says wrong, and functions that begin with no float."""
    if transform.has_stars:
        return
    option = transform.option("argnums", position=1)
    chosen = (
        _chosen(option, transform.checker) if option is not None else [(0, transform.call.node)]
    )
    if chosen is None:
        return
    if option is not None and not chosen:
        transform.report(
            ARGNUMS,
            "`argnums` names no argument. Fix: give a position, argnums=0, or a tuple of positions",
            option,
        )
    _report_repeated(transform, "argnums", chosen)
    if transform.function is not None:
        for each in chosen:
            if _is_in_range(transform, "argnums", each):
                _report_type(transform, each)


@on_transform("custom_vjp")
def nondifferentiated_arguments_exist(transform: Transform) -> None:
    """Report what `nondiff_argnums` of a custom_vjp says wrong."""
    option = transform.option("nondiff_argnums")
    chosen = _chosen(option, transform.checker) if option is not None else None
    if chosen is None:
        return
    _report_repeated(transform, "nondiff_argnums", chosen)
    if transform.function is not None:
        for each in chosen:
            _is_in_range(transform, "nondiff_argnums", each)


@on_call(*CALLS_OF_GRADIENTS)
def given_arguments_are_differentiable(call: Call) -> None:
    """Report a number or a text by which a lambda, or what has no annotations, is differentiated."""
    transform = transform_behind(call)
    function = transform.function if transform is not None else None
    if transform is None or function is None or call.has_stars or _may_be_whole(transform):
        return
    option = transform.option("argnums")
    chosen = _chosen(option, call.checker) if option is not None else [(0, call.node)]
    for number, _ in chosen or ():
        parameter = function.at(number)
        if parameter is None or is_not_differentiable(parameter.type):
            continue  # reported where the gradient is made
        given = call.argument(parameter.name, number)
        if given is not None and is_not_differentiable(given.type):
            found, fix = short_name(given.type), "Fix: give a float, an array or a Module"
            said = f"argument {number} is {found}, which has no gradient. {fix}"
            transform.report(ARGNUMS, said, given.expression)


# -- what is chosen ---------------------------------------------------------------------------


def _chosen(option: Expression, checker: Reporter) -> list[_Chosen] | None:
    """Return the arguments that an option chooses; None where one of them is not known."""
    items = option.items if isinstance(option, TupleExpr | ListExpr) else [option]
    numbers = [_number_of_diff_state(each, checker) or each for each in items]
    written = [constant_of(each, checker) for each in numbers]
    of_name = items_of(option, checker)  # a name of a tuple
    for found in (written, of_name if of_name is not None else [None]):
        chosen: list[_Chosen] = []
        for each in found:
            if each is not None and isinstance(each.value, int):
                chosen.append((each.value, each.expression))
        if len(chosen) == len(found):
            return chosen
    return None


def _number_of_diff_state(expression: Expression, checker: Reporter) -> Expression | None:
    if not isinstance(expression, CallExpr):
        return None
    name = transform_named(expression.callee, checker)
    if name is None or name.public != "DiffState":
        return None
    return argument_of(expression, "argnum", 0)


# -- reports ----------------------------------------------------------------------------------


def _report_repeated(transform: Transform, option: str, chosen: list[_Chosen]) -> None:
    numbers = [number for number, _ in chosen]
    for before, (number, at) in enumerate(chosen):
        if number in numbers[:before]:
            fix = "name it once"
            if transform.runtime != "jax":
                one = f"nnx.DiffState({number}, (nnx.Param, nnx.BatchStat))"
                fix = f"{fix}; several filters are one, {one}"
            transform.report(ARGNUMS, f"`{option}` names argument {number} twice. Fix: {fix}", at)


def _is_in_range(transform: Transform, option: str, chosen: _Chosen) -> bool:
    """Tell whether the function may have an argument, and report where it surely has not."""
    function = transform.function
    assert function is not None
    count, (number, at) = len(function.positional), chosen
    if function.takes_more_by_position or -count <= number < count:
        return True
    transform.report(
        ARGNUMS,
        f"`{option}` names argument {number}, but {function.takes}. Fix: {_range(count)}",
        at,
    )
    return False


def _range(count: int) -> str:
    if count == 0:
        return "give the function the value to differentiate by as a positional argument"
    return "name argument 0" if count == 1 else f"count from 0, so name one of 0 to {count - 1}"


def _report_type(transform: Transform, chosen: _Chosen) -> None:
    function = transform.function
    number, at = chosen
    parameter = function.at(number) if function is not None else None
    if function is None or parameter is None:
        return
    if is_not_differentiable(parameter.type, allow_int=_may_be_whole(transform)):
        every = enumerate(function.positional)
        others = [number for number, e in every if not is_not_differentiable(e.type)]
        fix = (
            f"name an argument of floats or a Module, argnums={others[0]}"
            if others
            else "make it a float, an array or a Module"
        )
        transform.report(
            ARGNUMS,
            f"argument {number}, `{parameter.name}`, is "
            f"{short_name(parameter.type)}, which has no gradient. Fix: {fix}",
            at,
        )


def _may_be_whole(transform: Transform) -> bool:
    """Tell whether `allow_int` is given, or may be."""
    option = transform.option("allow_int")
    constant = constant_of(option, transform.checker) if option is not None else None
    return option is not None and (constant is None or constant.value is not False)


# -- nnx-has-aux ------------------------------------------------------------------------------


@on_transform(*_OF_NNX, "jax.grad", "jax.value_and_grad")
def result_is_a_loss(transform: Transform) -> None:
    """Report a function whose result is not what `has_aux` says."""
    if transform.has_stars or transform.function is None:
        return
    option = transform.option("has_aux", position=2 if transform.runtime == "jax" else None)
    constant = constant_of(option, transform.checker) if option is not None else None
    if option is not None and (constant is None or not isinstance(constant.value, bool)):
        return
    found = result_of(transform.function, transform.checker)
    fix = _fix(found, has_aux=constant is not None and constant.value is True)
    if fix:
        transform.report(HAS_AUX, f"it returns {text_of(found)}, {fix}", option)


def _fix(found: Structure, *, has_aux: bool) -> str:
    """Return what is wrong with a result, and how to mend it; empty where it may be right."""
    if isinstance(found, Unsure):
        return ""
    items = found.items if isinstance(found, Row) and found.kind == "tuple" else None
    is_pair = items is not None and len(items) == 2
    if has_aux:
        if is_pair or (isinstance(found, Row) and items is None):
            return ""
        said = "and `has_aux` asks for a loss and what comes with it"
        return f"{said}. Fix: return loss, aux, or leave `has_aux` out"
    if isinstance(found, Leaf):
        return ""
    more = "has_aux=True where the second comes with the loss, or " if is_pair else ""
    return f"which has no gradient. Fix: {more}return the loss alone"
