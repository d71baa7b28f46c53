"""Functions that loops and branches of jax call: `jax.lax.scan`, `map`, `fori_loop`, `cond`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.running.frames import Dispatch, Frame, FunctionRef
from typed_nnx_codegen.migrate.linen.running.mapped_functions import (
    Mapped,
    size_along,
    with_axis,
    without_axis,
)
from typed_nnx_codegen.migrate.linen.running.passed import Passed
from typed_nnx_codegen.migrate.linen.running.references import BoundMethod, Partial, Ref
from typed_nnx_codegen.migrate.linen.running.values import (
    NONE,
    UNKNOWN,
    Array,
    Const,
    Seq,
    Shape,
    Size,
    Table,
    Value,
    is_known,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import dim_of

_FIRST: Final = Const(0)
_CALLABLE = (FunctionRef, Mapped, Partial, Ref, BoundMethod)
# The parameters of each of them, as jax names them.
_PARAMETERS: Final = {
    "jax.lax.map": ("f", "xs"),
    "jax.lax.scan": ("f", "init", "xs", "length"),
    "jax.lax.fori_loop": ("lower", "upper", "body_fun", "init_val"),
    "jax.lax.while_loop": ("cond_fun", "body_fun", "init_val"),
    "jax.lax.associative_scan": ("fn", "elems"),
    "jax.lax.cond": ("pred", "true_fun", "false_fun"),
    "jax.lax.switch": ("index", "branches"),
}


class LoopedFunctions:
    """Goes through functions that loops and branches of jax call.

    Args:
        dispatch: Goes through a call of something.
    """

    def __init__(
        self,
        dispatch: Dispatch,
    ) -> None:
        self._dispatch = dispatch

    def call(
        self, name: str, passed: Sequence[Passed], node: cst.Call, frame: Frame
    ) -> Value | None:
        """Return what a loop or a branch of jax returns; None where the call is another one.

        Args:
            name: The public name of what is called.
            passed: The arguments.
            node: The call.
            frame: The frame.
        """
        parameters = _PARAMETERS.get(name)
        if parameters is None or any(one.star for one in passed):
            return None
        values = [one.value for one in passed if not one.keyword]
        given = dict(zip(parameters, values, strict=False))
        given.update((one.keyword, one.value) for one in passed if one.keyword)
        match name.rpartition(".")[2]:
            case "map":
                return self._map(given, node, frame)
            case "scan":
                return self._scan(given, node, frame)
            case "cond":
                branches = [given.get("true_fun", UNKNOWN), given.get("false_fun", UNKNOWN)]
                operands = [*values[3:], *(given[one] for one in ("operand",) if one in given)]
                return self._branches(branches, operands, node, frame)
            case "switch":
                match given.get("branches"):
                    case Seq(items=items):
                        operands = values[len(parameters) :]
                        return self._branches(list(items), operands, node, frame)
                return None
            case "associative_scan":
                return traced(given.get("elems", UNKNOWN))
        return self._loop(given, node, frame)

    def _result(self, function: Value, args: list[Value], node: cst.Call, frame: Frame) -> Value:
        given = [Passed(one, None, node) for one in args]
        return traced(self._dispatch(function, given, node, frame))

    def _map(self, given: dict[str, Value], node: cst.Call, frame: Frame) -> Value | None:
        function, items = given.get("f"), traced(given.get("xs", UNKNOWN))
        if not isinstance(function, _CALLABLE):
            return None
        result = self._result(function, [without_axis(items, _FIRST)], node, frame)
        return with_axis(result, _FIRST, size_along(items, _FIRST))

    def _scan(self, given: dict[str, Value], node: cst.Call, frame: Frame) -> Value | None:
        function, items = given.get("f"), given.get("xs", NONE)
        if not isinstance(function, _CALLABLE):
            return None
        first = traced(given.get("init", UNKNOWN))
        size = dim_of(given.get("length", NONE))
        if items != NONE:
            items = traced(items)
            size = size_along(items, _FIRST)
            items = without_axis(items, _FIRST)
        match self._result(function, [first, items], node, frame):
            case Seq(items=(carry, each)):
                stacked = each if each == NONE else with_axis(each, _FIRST, size)
                return Seq((_same(first, carry), stacked))
        return Seq((first, UNKNOWN))

    def _loop(self, given: dict[str, Value], node: cst.Call, frame: Frame) -> Value | None:
        function = given.get("body_fun")
        if not isinstance(function, _CALLABLE):
            return None
        first = traced(given.get("init_val", UNKNOWN))
        is_counted = "lower" in given
        args = [Array(Shape(())), first] if is_counted else [first]
        if "cond_fun" in given and isinstance(given["cond_fun"], _CALLABLE):
            self._result(given["cond_fun"], args, node, frame)
        return _same(first, self._result(function, args, node, frame))

    def _branches(
        self, branches: list[Value], operands: list[Value], node: cst.Call, frame: Frame
    ) -> Value | None:
        """Return what one of a few functions returns: their shapes are equal, or jax refuses."""
        if not all(isinstance(one, _CALLABLE) for one in branches):
            return None
        found: Value = UNKNOWN
        args = [traced(one) for one in operands]
        for one in branches:
            result = self._result(one, args, node, frame)
            found = result if not is_known(found) else _same(found, result)
        return found


def traced(value: Value) -> Value:
    """Return what a value is inside of a loop: all numbers are arrays, of the same shape.

    Args:
        value: The value outside.
    """
    match value:
        case Array():
            return replace(value, origin="", is_optional=False, made="", of_shapes=False)
        case Const(value=bool() | int() | float()) | Size():
            return Array(Shape(()))
        case Seq(items=items):
            return replace(value, items=tuple(traced(one) for one in items))
        case Table(items=table, cls=None):
            return Table({key: traced(one) for key, one in table.items()})
    return value if value == NONE else UNKNOWN


def _same(one: Value, other: Value) -> Value:
    """Return what is known of two values whose shapes are equal, since jax refuses all else."""
    match one, other:
        case Array(shape=first), Array(shape=second):
            dtype = one.dtype if one.dtype == other.dtype else ""
            return Array(_same_shape(first, second), dtype)
        case Seq(items=first), Seq(items=second) if len(first) == len(second):
            pairs = zip(first, second, strict=True)
            return replace(one, items=tuple(_same(a, b) for a, b in pairs))
    return one if is_known(one) else other


def _same_shape(one: Shape, other: Shape) -> Shape:
    """Return a shape with all sizes that either of two equal shapes knows."""
    if one.lead is not None and (other.lead is None or not one.lead.argument):
        one, other = other, one
    known = list(one.dims)
    for place in range(1, min(len(one.dims), len(other.dims)) + 1):
        known[-place] = known[-place] if known[-place] is not None else other.dims[-place]
    if one.lead is not None and len(other.dims) > len(one.dims) and not one.lead.argument:
        known = [*other.dims[: -len(known) or None], *known]
    return Shape(tuple(known), one.lead)
