"""Transforms and control flow of jax and Linen over functions: `vmap`, `scan`, `cond`, `grad`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen import shapes
from typed_nnx_codegen.migrate.linen.domain.dims import Dim
from typed_nnx_codegen.migrate.linen.domain.frames import Dispatch, Evaluate, Frame, FunctionRef
from typed_nnx_codegen.migrate.linen.domain.references import (
    BoundMethod,
    FieldModule,
    ModuleValue,
    Partial,
    Ref,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    UNKNOWN,
    Array,
    Const,
    Lead,
    Seq,
    Shape,
    Size,
    Slice,
    Table,
    Value,
    is_known,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import Passed, dim_of

_MAPPING: Final = "jax.vmap"
_SAME: Final = frozenset(
    {
        *("jax.jit", "jax.checkpoint", "jax.remat", "jax.ad_checkpoint.checkpoint"),
        *("jax.named_call", "jax.pjit", "jax.experimental.pjit.pjit"),
    }
)
_FIRST: Final = Const(0)
_ALL: Final = Slice(NONE, NONE, NONE)
# What stands for a submodule, or for a method of the object itself.
_OBJECTS: Final = (ModuleValue, FieldModule, BoundMethod)


@dataclass(frozen=True, eq=False)
class Mapped(Value):
    """A function under `jax.vmap`.

    Attributes:
        function: The function.
        in_axes: The axes of its arguments that are mapped.
        out_axes: Where the axis is in what it returns.
    """

    function: Value
    in_axes: Value = _FIRST
    out_axes: Value = _FIRST


class MappedFunctions:
    """Goes through functions under transforms of jax.

    Args:
        evaluate: Goes through an expression.
        dispatch: Goes through a call of something.
    """

    def __init__(
        self,
        evaluate: Evaluate,
        dispatch: Dispatch,
    ) -> None:
        self._evaluate = evaluate
        self._dispatch = dispatch

    def decorated(self, name: str, frame: Frame) -> Value | None:
        """Return a function of a file whose decorators are transforms; None where it is none."""
        found = [
            one
            for one in frame.analysis.tree.body
            if isinstance(one, cst.FunctionDef) and one.name.value == name
        ]
        if len(found) != 1 or not found[0].decorators:
            return None
        outside = Frame(frame.recorder, frame.analysis, records=False)
        value: Value | None = FunctionRef(found[0], outside, name, frame.home)
        for one in reversed(found[0].decorators):
            decorator = self._evaluate(one.decorator, outside)
            value = None if value is None else self._under(decorator, value)
        return value

    def _under(self, decorator: Value, function: Value) -> Value | None:
        match decorator:
            case Ref(name=name, code=""):
                return under_transform(name, function, [], {})
            case Partial(function=Ref(name=name, code=""), args=args, keywords=keywords):
                named = {key: one.value for key, one in keywords.items()}
                return under_transform(name, function, [one.value for one in args], named)
        return None

    def call(self, callee: Mapped, passed: Sequence[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return what a call of a mapped function returns."""
        if any(one.star for one in passed):
            return UNKNOWN
        values = [one.value for one in passed if not one.keyword]
        axes = _axes(callee.in_axes, len(values))
        if axes is None:
            return UNKNOWN
        size: Dim | None = None
        inner: list[Passed] = []
        for one in passed:
            axis = _FIRST if one.keyword else axes.pop(0)
            size = size or size_along(one.value, axis)
            inner.append(replace(one, value=without_axis(one.value, axis), code=None, place=None))
        if isinstance(callee.function, _OBJECTS):
            # The call is one of the transform: it stays as it is.
            frame = replace(frame, records=False)
        result = self._dispatch(callee.function, inner, node, frame)
        return with_axis(result, callee.out_axes, size)


def under_transform(
    name: str, function: Value, args: Sequence[Value], keywords: dict[str, Value]
) -> Value | None:
    """Return a function under a transform of jax; None where it is another one.

    Args:
        name: The public name of the transform.
        function: The function.
        args: The other positional arguments of the transform.
        keywords: The keyword arguments.
    """
    is_object = isinstance(function, _OBJECTS)
    if not is_object and not isinstance(function, FunctionRef | Mapped | Partial | Ref):
        return None
    if name in _SAME and not is_object:
        return function
    if name != _MAPPING:
        return None
    given = dict(zip(("in_axes", "out_axes"), args, strict=False)) | keywords
    return Mapped(function, given.get("in_axes", _FIRST), given.get("out_axes", _FIRST))


def _axes(value: Value, count: int) -> list[Value] | None:
    """Return the mapped axis of each argument; None where that is not known."""
    match value:
        case Const():
            return [value for _ in range(count)]
        case Seq(items=items) if len(items) >= count:
            return list(items[:count])
    return None


def _number(axis: Value) -> int | None:
    match axis:
        case Const(value=int(number)) if not isinstance(number, bool):
            return number
    return None


def size_along(value: Value, axis: Value) -> Dim | None:
    """Return the size along the mapped axis of an argument; None where it is not known."""
    number = _number(axis)
    if isinstance(value, Array) and number is not None:
        return value.shape.axis(number)
    if isinstance(value, Seq) and number is not None:
        return next((size for one in value.items if (size := size_along(one, axis))), None)
    return None


def without_axis(value: Value, axis: Value) -> Value:
    """Return an argument as the function gets it: without the mapped axis."""
    if axis == NONE:
        return value
    # It is an array, so that an item of it is one of its rows.
    plain = replace(value, origin="") if isinstance(value, Array) else value
    found = _sliced(plain, axis)
    if isinstance(found, Array):
        shape = found.shape
        if shape.lead is not None and shape.collapsed().dims:
            # What is left in front of the known sizes may be nothing.
            return replace(found, shape=Shape(shape.dims, replace(shape.lead, sure=0)))
    return found


def _sliced(value: Value, axis: Value) -> Value:
    number = _number(axis)
    match value:
        case Array() if number is not None and number >= 0:
            index = Seq((*(_ALL,) * number, _FIRST)) if number else _FIRST
            return shapes.subscript(value, index)
        case Array() if number is not None:
            return shapes.subscript(value, Seq((Const(...), _FIRST, *(_ALL,) * (-number - 1))))
        case Seq(items=items) if number is not None:
            return replace(value, items=tuple(without_axis(one, axis) for one in items))
        case Table(items=table, cls=None) if number is not None:
            return Table({key: without_axis(one, axis) for key, one in table.items()})
    return UNKNOWN


def with_axis(value: Value, axis: Value, size: Dim | None) -> Value:
    """Return what all calls return together: with the mapped axis."""
    if axis == NONE:
        return value
    number = _number(axis)
    match value:
        case Array(shape=shape, dtype=dtype) if number is not None:
            return Array(_grown(shape, number, size), dtype)
        case Seq(items=items):
            axes = _axes(axis, len(items))
            if axes is not None:
                pairs = zip(items, axes, strict=True)
                return replace(
                    value, items=tuple(with_axis(one, each, size) for one, each in pairs)
                )
        case Table(items=table, cls=None) if number is not None:
            return Table({key: with_axis(one, axis, size) for key, one in table.items()})
    return UNKNOWN


def _grown(shape: Shape, axis: int, size: Dim | None) -> Shape:
    lead = shape.lead
    if axis < 0:
        known = shape.expanded(-axis - 1)
        place = len(known.dims) + axis + 1
        if place < 0:
            return Shape((), Lead("", None))
        return Shape((*known.dims[:place], size, *known.dims[place:]), known.lead)
    if lead is None and axis <= len(shape.dims):
        return Shape((*shape.dims[:axis], size, *shape.dims[axis:]))
    if lead is not None and axis == 0 and lead.argument:
        return Shape(shape.dims, replace(lead, front=(size, *lead.front)))
    return Shape(shape.dims, Lead("", None)) if axis == 0 else Shape((), Lead("", None))


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


_REFUSED: Final = frozenset(
    {
        *("cond", "switch", "while_loop", "grad", "value_and_grad", "vjp", "jvp", "custom_vjp"),
        *("map_variables", "fold_rngs", "add_metadata_axis", "xmap"),
        *("jit_with_static", "scan_with_axes", "remat_with_axes", "vmap_with_axes"),
    }
)


def is_refused(name: str) -> bool:
    """Whether a function of Linen has modules in its arguments that nothing here looks into."""
    return name.rpartition(".")[2] in _REFUSED
