"""``nnx-axes``: axes of vmap, pmap and scan that do not fit the parameters and results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mypy import nodes
from mypy.nodes import ArgKind, Context, RefExpr, TypeInfo
from mypy.types import Instance

from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.constants import constant_of
from typed_nnx_codegen.facts.filter_syntax import read_filter
from typed_nnx_codegen.facts.filters import any_of
from typed_nnx_codegen.facts.kinds import Kind, kind_of, short_name
from typed_nnx_codegen.facts.leaves import leaves_of
from typed_nnx_codegen.facts.parameters import Function
from typed_nnx_mypy.call import Call
from typed_nnx_mypy.errorcodes import AXES
from typed_nnx_mypy.models.structures import (
    Leaf,
    Node,
    Nothing,
    Row,
    Structure,
    Table,
    Text,
    Unsure,
    result_of,
    structure_of,
    text_of,
)
from typed_nnx_mypy.registry import on_call
from typed_nnx_mypy.syntax.axes import (
    MAPS,
    SCAN,
    AxesByFilter,
    AxesRow,
    Axis,
    CarryAxis,
    Mapped,
    NoAxis,
    Number,
    WrongAxis,
    axes_of,
    mapped_of,
    parts_of,
)
from typed_nnx_mypy.syntax.transforms import Transform, on_transform

_AXIS: Final = "use a whole number or None"


@on_transform(*MAPS, SCAN)
def axes_fit(transform: Transform) -> None:
    """Report axes that surely fail when the function is called."""
    mapped = mapped_of(transform)
    for found in _misfits(mapped) if mapped is not None else ():
        _report(transform.call, transform.title, found)


@on_call("StateAxes")
def axes_by_filter(call: Call) -> None:
    """Report what is no axis among the axes by filter."""
    axes = axes_of(call.expression, call.checker) if call.expression is not None else None
    for _, axis in (axes.pairs or ()) if isinstance(axes, AxesByFilter) else ():
        # scan of flax takes True as 1.
        if isinstance(axis, WrongAxis) and axis.kind != "bool":
            if call.checker.has_error(axis.at):
                continue  # mypy knows the types, and says so
            _report(call, "StateAxes", Misfit(axis.at, f"a {axis.kind} is not an axis", _AXIS))


def _report(call: Call, name: str, found: Misfit) -> None:
    call.report(AXES, f"{name}: {found.found}. Fix: {found.fix}", found.at)


def _misfits(mapped: Mapped) -> Iterator[Misfit]:
    yield from _values(mapped)
    yield from _nothing_to_map(mapped)
    count = _count(mapped)
    if count is not None:
        yield count
        return
    yield from _parameters(mapped)
    yield from _at_once(mapped)
    yield from _result(mapped)


# -- what is written ----------------------------------------------------------------------------


def _values(mapped: Mapped) -> Iterator[Misfit]:
    """Yield what is no axis for the transform."""
    checker = mapped.checker
    for part in (*parts_of(mapped.ins), *parts_of(mapped.outs)):
        match part:
            case WrongAxis(is_in_filters=False) if not (mapped.is_scan and part.kind == "bool"):
                if not checker.has_error(part.at):
                    yield Misfit(part.at, f"a {part.kind} is not an axis", _AXIS)
            case CarryAxis() if not mapped.is_scan:
                yield Misfit(part.at, "only scan has a Carry", _AXIS)
            case AxesByFilter() if mapped.is_jax:
                own = mapped.name.removeprefix("jax.")
                yield Misfit(part.at, "jax does not know StateAxes", f"use nnx.{own}")
            case _:
                pass
    for part in parts_of(mapped.outs) if mapped.is_scan else ():
        if isinstance(part, NoAxis):
            said = "out_axes has None, but each step has a result of its own"
            yield Misfit(part.at, said, "give the axis along which they are stacked, such as 0")


def _nothing_to_map(mapped: Mapped) -> Iterator[Misfit]:
    if not mapped.gives_ins or not _is_unmapped(mapped.ins, is_scan=mapped.is_scan):
        return
    # jax maps keyword arguments over axis 0, so that there must be none.
    called = mapped.called
    if mapped.is_jax and (called is None or not all(k.is_positional() for k in called.arg_kinds)):
        return
    size = mapped.option("length" if mapped.is_scan else "axis_size")
    if size is not None and mapped.name != "pmap":
        constant = constant_of(size, mapped.checker)
        if constant is None or constant.value is not None:
            return
    if mapped.is_scan:
        said, fix = "no parameter has an axis, so the number of steps is not known", "give length"
    else:
        said = "no parameter has an axis, so there is nothing to map over"
        fix = "give an axis" if mapped.name.endswith("pmap") else "give an axis, or axis_size"
    yield Misfit(mapped.ins.at, said, fix)


def _is_unmapped(axis: Axis, *, is_scan: bool) -> bool:
    match axis:
        case NoAxis():
            return True
        case CarryAxis():
            return is_scan
        case AxesRow():
            return bool(axis.items) and all(_is_unmapped(e, is_scan=is_scan) for e in axis.items)
        case AxesByFilter():
            return bool(axis.pairs) and all(
                _is_unmapped(each, is_scan=is_scan) for _, each in axis.pairs or ()
            )
        case _:
            return False


# -- parameters -------------------------------------------------------------------------------


def _count(mapped: Mapped) -> Misfit | None:
    """Return what is wrong with the number of axes."""
    axes, function = mapped.ins, mapped.function
    if isinstance(axes, CarryAxis) and mapped.is_scan:
        count, said = 1, "in_axes is Carry, for one parameter"
    elif isinstance(axes, AxesRow):
        count = len(axes.items)
        said = f"in_axes has {_counted(count, 'entry', 'entries')}"
        if not mapped.gives_ins:
            said = "in_axes is (Carry, 0) where it is not given"
    else:
        return None
    if function is not None:
        fewest, most = _limits(mapped, function)
        if count < fewest or (most is not None and count > most):
            return Misfit(axes.at, f"{said}, but {_taken(function)}", "give one for each parameter")
    given = _given_at_once(mapped)
    if given is not None and (count != given if mapped.is_jax else count < given):
        said = f"{said}, but {_counted(given, 'argument is', 'arguments are')} given by position"
        return Misfit(axes.at, said, "give one for each argument")
    return None


def _limits(mapped: Mapped, function: Function) -> tuple[int, int | None]:
    """Return the fewest and the most arguments by position."""
    required = [each for each in function.positional if each.kind.is_required()]
    # Under jax every parameter that has a name may be given by it, which needs no axis.
    fewest = 0 if mapped.is_jax else len(required)
    given = mapped.given
    is_class = isinstance(given, RefExpr) and isinstance(given.node, TypeInfo)
    has_star = any(each.kind is ArgKind.ARG_STAR for each in function.parameters)
    has_more = function.takes_more_by_position and (has_star or not is_class)
    return fewest, None if has_more else len(function.positional)


def _taken(function: Function) -> str:
    names = [each.name or "_" for each in function.positional]
    name = f"`{function.name}`" if function.name else "the function"
    count = _counted(len(names), "positional parameter", "positional parameters")
    return f"{name} takes {count}" + (f" ({', '.join(names)})" if names else "")


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _given_at_once(mapped: Mapped) -> int | None:
    """Return how many arguments the call of the result gives by position."""
    called = mapped.called
    if called is None or any(kind.is_star() for kind in called.arg_kinds):
        return None
    return sum(kind.is_positional() for kind in called.arg_kinds)


def _axis_of(mapped: Mapped, number: int) -> Axis | None:
    """Return the axis of a parameter; None where it is not known or there is none."""
    axes = mapped.ins
    if isinstance(axes, AxesRow):
        return axes.items[number] if number < len(axes.items) else None
    return axes if isinstance(axes, Number | NoAxis | AxesByFilter | CarryAxis) else None


def _parameters(mapped: Mapped) -> Iterator[Misfit]:
    """Yield the axes that do not fit the parameter that they are for."""
    function = mapped.function
    checker, only_modules = mapped.checker, not mapped.is_scan
    for number, parameter in enumerate(function.positional if function is not None else ()):
        axis = _axis_of(mapped, number)
        if axis is None or not parameter.kind.is_required():
            continue
        structure = structure_of(parameter.type)
        found = _misfit(axis, structure, checker, only_modules=only_modules)
        if mapped.is_scan and isinstance(structure, Text):
            said = "scan takes no str, whatever its axis"
            found = Misfit(axis.at, said, "close over it, or bind it with functools.partial")
        if found is not None:
            name = parameter.name or f"parameter {number}"
            yield Misfit(found.at, f"{found.found} (`{name}`)", found.fix)


def _at_once(mapped: Mapped) -> Iterator[Misfit]:
    """Yield numbers that are mapped over an axis, in the call of the result."""
    has_static = mapped.option("static_broadcasted_argnums") is not None
    if _given_at_once(mapped) is None or mapped.called is None or has_static:
        return
    arguments = [
        argument
        for argument, kind in zip(mapped.called.args, mapped.called.arg_kinds, strict=True)
        if kind.is_positional()
    ]
    for number, argument in enumerate(arguments):
        plain = argument.expr if isinstance(argument, nodes.UnaryExpr) else argument
        is_number = isinstance(plain, nodes.IntExpr | nodes.FloatExpr)
        if isinstance(_axis_of(mapped, number), Number) and is_number:
            yield Misfit(argument, "a number has no axis to map over", "give it the axis None")


# -- results ----------------------------------------------------------------------------------


def _result(mapped: Mapped) -> Iterator[Misfit]:
    """Yield the axes that do not fit what the function returns."""
    function, axes = mapped.function, mapped.outs
    if function is None:
        return
    result = result_of(function, mapped.checker)
    if isinstance(axes, AxesRow) and any(isinstance(each, CarryAxis) for each in axes.items):
        if not _may_be_tuple(result, len(axes.items)):
            said = f"out_axes is for a tuple of {len(axes.items)}, but the function returns "
            fix = "return one result for each of out_axes"
            yield Misfit(axes.at, said + text_of(result), fix)
        return
    found = _misfit(axes, result, mapped.checker)
    if found is not None:
        yield Misfit(found.at, f"{found.found}, which the function returns", found.fix)


def _may_be_tuple(result: Structure, count: int) -> bool:
    match result:
        case Row(kind="tuple", items=items):
            return items is None or len(items) == count
        case _:
            return isinstance(result, Unsure)


# -- axes and structures -------------------------------------------------------------------------


@dataclass(frozen=True)
class Misfit:
    """An axis that does not fit.

    Attributes:
        at: Where it is written.
        found: What is wrong.
        fix: What to write.
    """

    at: Context
    found: str
    fix: str


def _misfit(
    axis: Axis, of: Structure, checker: Checker, *, only_modules: bool = True
) -> Misfit | None:
    """Return what surely does not fit between an axis and the value that it is for.

    Args:
        axis: The axis.
        of: The structure of the value.
        checker: The type checker of the file.
        only_modules: Whether StateAxes for an array is an error.
    """
    match axis, of:
        case AxesRow(), Row():
            if axis.kind != of.kind:
                return _wrong_form(axis, of)
            if of.items is not None and len(axis.items) != len(of.items):
                return _wrong_form(axis, of)
            pairs = zip(axis.items, of.items, strict=True) if of.items and not of.name else ()
            found = (
                _misfit(one, other, checker, only_modules=only_modules) for one, other in pairs
            )
            return next((each for each in found if each is not None), None)
        case AxesRow(), Leaf() | Nothing() | Text() | Table():
            return _wrong_form(axis, of)
        case AxesRow(), Node(type=found) if kind_of(found) in (Kind.PYTREE, Kind.VARIABLE):
            return _wrong_form(axis, of)
        case AxesByFilter(), Leaf() | Nothing() | Text() if only_modules:
            said = f"StateAxes is for Modules and Variables, but this is {text_of(of)}"
            return Misfit(axis.at, said, "give an axis or None")
        case AxesByFilter(), Node(type=found) if kind_of(found) is Kind.PYTREE:
            return _uncovered(axis, found, checker)
        case Number(), Text():
            return Misfit(axis.at, "a str has no axis to map over", "give None")
        case _:
            return None


def _uncovered(axis: AxesByFilter, model: Instance, checker: Checker) -> Misfit | None:
    """Return what is wrong where no filter takes a leaf that each object of a class has."""
    if axis.pairs is None:
        return None
    filters = any_of(read_filter(key, checker.type_of(key), checker) for key, _ in axis.pairs)
    for leaf in leaves_of(model, filters, checker).items:
        if leaf.passes is False and leaf.is_sure:
            path = "".join(f".{key}" if isinstance(key, str) else f"[{key}]" for key in leaf.path)
            return Misfit(
                axis.at,
                f"StateAxes has no axis for `{model.type.name}{path}` ({short_name(leaf.type)})",
                "add a filter for it, or `...: None` as the last one",
            )
    return None


def _wrong_form(axis: AxesRow, of: Structure) -> Misfit:
    axes = f"a {axis.kind} of {len(axis.items)} axes"
    return Misfit(axis.at, f"{axes} for {text_of(of)}", "give axes of its form, or one for all")
