"""``nnx-carry``: scan without exactly one Carry, and carries that a step of a loop changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mypy import nodes
from mypy.nodes import Context, Node

from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.parameters import Function, Parameter, function_of
from typed_nnx_codegen.facts.targets import single_targets
from typed_nnx_mypy.call import Call
from typed_nnx_mypy.errorcodes import CARRY
from typed_nnx_mypy.models.structures import (
    Difference,
    Nothing,
    Row,
    Structure,
    Unsure,
    both,
    difference,
    item_of,
    result_of,
    structure_of,
    text_of,
    written,
)
from typed_nnx_mypy.registry import on_call
from typed_nnx_mypy.syntax.axes import (
    SCAN,
    AxesRow,
    Axis,
    CarryAxis,
    Mapped,
    UnknownAxis,
    mapped_of,
    parts_of,
)
from typed_nnx_mypy.syntax.transforms import Transform, on_transform

_BOTH: Final = "in_axes=(nnx.Carry, 0), out_axes=(nnx.Carry, 0)"

# The positions of the body and of the first carry.
_LOOPS: Final = {
    "while_loop": (1, 2),
    "fori_loop": (2, 3),
    "jax.lax.while_loop": (1, 2),
    "jax.lax.fori_loop": (2, 3),
    "jax.lax.scan": (0, 1),
}
# Which parameter of the body is the carry, where it is not the first.
_PARAMETERS: Final = {"fori_loop": 1, "jax.lax.fori_loop": 1}
_NAMES: Final = {"jax.lax.scan": ("f", "init")}


# -- scan -------------------------------------------------------------------------------------


@on_transform(SCAN)
def scan_has_one_carry(transform: Transform) -> None:
    """Report a Carry in one of the options only, several, and one inside of something."""
    mapped = mapped_of(transform)
    if mapped is None:
        return
    found = list(_misplaced(mapped)) or list(_unpaired(mapped)) or list(_changed(mapped))
    for at, said, fix in found:
        mapped.report(CARRY, f"{said}. Fix: {fix}", at)


def _carries(axes: Axis) -> list[CarryAxis]:
    """Return the Carrys that stand where they may: alone, or for a whole parameter or result."""
    items = axes.items if isinstance(axes, AxesRow) else (axes,)
    return [each for each in items if isinstance(each, CarryAxis)]


def _is_known(axes: Axis) -> bool:
    items = axes.items if isinstance(axes, AxesRow) else (axes,)
    return not any(isinstance(each, UnknownAxis) for each in items)


def _misplaced(mapped: Mapped) -> Iterator[tuple[Context, str, str]]:
    for name, axes in (("in_axes", mapped.ins), ("out_axes", mapped.outs)):
        found = _carries(axes)
        if len(found) > 1:
            said = f"{name} has {len(found)} Carrys, but there is one carry"
            yield found[1].at, said, "carry a tuple of all that is carried"
        for row in axes.items if isinstance(axes, AxesRow) else ():
            inner = parts_of(row) if isinstance(row, AxesRow) else ()
            at = next((each.at for each in inner if isinstance(each, CarryAxis)), None)
            if at is not None:
                said = f"{name} has a Carry for a part of a parameter or result"
                yield at, said, "carry the whole, or take it apart"


def _unpaired(mapped: Mapped) -> Iterator[tuple[Context, str, str]]:
    ins, outs = mapped.ins, mapped.outs
    default = "" if mapped.gives_ins else ", its default"
    if _carries(ins) and _is_known(outs) and not _carries(outs):
        yield outs.at, f"in_axes has a Carry{default}, but out_axes has none", f"use {_BOTH}"
    default = "" if mapped.gives_outs else ", its default"
    if _carries(outs) and _is_known(ins) and not _carries(ins):
        fix = f"use {_BOTH}" if mapped.gives_outs else f"give out_axes=0, or use {_BOTH}"
        yield ins.at, f"out_axes has a Carry{default}, but in_axes has none", fix


def _changed(mapped: Mapped) -> Iterator[tuple[Context, str, str]]:
    """Yield the difference between the parameter that is carried and what is returned for it."""
    ins, outs = mapped.ins, mapped.outs
    function = mapped.function
    if function is None or not (_is_known(ins) and _carries(ins) and _carries(outs)):
        return
    place = ins.items.index(_carries(ins)[0]) if isinstance(ins, AxesRow) else 0
    parameter = function.at(place)
    result = result_of(function, mapped.checker)
    if isinstance(outs, AxesRow):
        result = item_of(result, outs.items.index(_carries(outs)[0]), len(outs.items))
    if parameter is None:
        return
    carried = both(structure_of(parameter.type), _given_at_once(mapped, place))
    found = _difference(carried, result, function, parameter)
    if found is not None:
        name = f"`{parameter.name}`" if parameter.name else "the carry"
        at = mapped.given or mapped.call.node
        yield at, _said(name, found, result), _fix(result)


def _given_at_once(mapped: Mapped, place: int) -> Structure:
    """Return what the call of the result gives for a parameter: ``nnx.scan(f)(first, xs)``."""
    called = mapped.called
    if called is None or len(called.args) <= place:
        return Unsure()
    if not all(kind.is_positional() for kind in called.arg_kinds[: place + 1]):
        return Unsure()
    return written(called.args[place], mapped.checker)


# -- loops ------------------------------------------------------------------------------------


@on_call(*_LOOPS)
def loops_keep_the_carry(call: Call) -> None:
    """Report a body whose result surely differs from the first carry."""
    checker = call.checker
    body_at, first_at = _LOOPS[call.name]
    body_name, first_name = _NAMES.get(call.name, ("body_fun", "init_val"))
    body = call.argument(body_name, body_at)
    first = call.argument(first_name, first_at)
    if body is None or first is None or call.expression is None:
        return
    function = function_of(body.expression, checker)
    if function is None or checker.has_error(call.expression):
        return  # mypy knows the types, and says so
    result = result_of(function, checker)
    if call.name == "jax.lax.scan":
        pair = _pair(result)
        if pair is None:
            said = f"the body returns {text_of(result)}, but must return a carry and an output"
            call.report(CARRY, f"{call.name}: {said}. Fix: return a tuple of 2", body.expression)
            return
        result = pair
    carried = both(structure_of(first.type), written(first.expression, checker))
    parameter = function.at(_PARAMETERS.get(call.name, 0))
    found = _difference(carried, result, function, parameter)
    if found is not None:
        said = _said("the carry", found, result)
        call.report(CARRY, f"{call.name}: {said}. Fix: {_fix(result)}", body.expression)


def _pair(result: Structure) -> Structure | None:
    """Return the carry of a carry and an output; None where the result surely is no such pair."""
    match result:
        case Unsure() | Row(items=None):
            return Unsure()
        case Row(items=(carry, _)):
            return carry
        case _:
            return None


def _difference(
    carried: Structure, result: Structure, function: Function, parameter: Parameter | None
) -> Difference | None:
    """Return how a carry differs from what a step returns for it."""
    found = difference(carried, result)
    if found is not None or parameter is None or not isinstance(result, Row):
        return found
    # Whatever is unpacked into 2 is no tuple of 3.
    length = _unpacked_length(function, parameter)
    if length is None or result.items is None or length == len(result.items):
        return None
    return Difference("", f"unpacked into {length}", text_of(result))


def _unpacked_length(function: Function, parameter: Parameter) -> int | None:
    """Return how many things a parameter surely has in it, since the function unpacks them.

    None where it does not, or where the parameter may have got another value before.
    """
    definition = function.definition
    if not isinstance(definition, nodes.FuncDef):
        return None
    bound = len(definition.arguments) - len(function.parameters)
    variable = definition.arguments[bound + function.parameters.index(parameter)].variable
    assigned = (each for node in descendants(definition.body) for each in single_targets(node))
    if any(isinstance(each, nodes.NameExpr) and each.node is variable for each in assigned):
        return None
    lengths = (_length(each, variable) for each in definition.body.body)
    return next((each for each in lengths if each is not None), None)


def _length(statement: Node, variable: Node) -> int | None:
    """Return the length in ``a, b = variable``, as a statement that always runs."""
    match statement:
        case nodes.AssignmentStmt(
            lvalues=[nodes.TupleExpr() | nodes.ListExpr() as target],
            rvalue=nodes.NameExpr(node=value),
        ) if value is variable:
            has_star = any(isinstance(each, nodes.StarExpr) for each in target.items)
            return None if has_star else len(target.items)
        case _:
            return None


# -- messages ---------------------------------------------------------------------------------


def _said(name: str, found: Difference, result: Structure) -> str:
    if isinstance(result, Nothing):
        return f"{name} is {found.first}, but a step returns None"
    return f"{name}{found.path} is {found.first}, but a step returns {found.second} for it"


def _fix(result: Structure) -> str:
    if isinstance(result, Nothing):
        return "return the carry"
    return "return what has the structure of the carry"
