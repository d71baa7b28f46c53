"""Sizes and numbers that only objects know: outputs of modules, numbers that numpy computes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.domain.class_plan import Build, Site
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.code import is_place, operand
from typed_nnx_codegen.migrate.linen.domain.dims import Dim, Piece, as_dim
from typed_nnx_codegen.migrate.linen.domain.expr import Constructed
from typed_nnx_codegen.migrate.linen.domain.frames import CallMethod, Frame, Line, Recorder
from typed_nnx_codegen.migrate.linen.domain.names import bound_in
from typed_nnx_codegen.migrate.linen.domain.references import ClassRef, FieldModule, Ref, SelfValue
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Code,
    Const,
    Shape,
    Size,
    Value,
)
from typed_nnx_codegen.migrate.linen.layers import Inputs, find_layer
from typed_nnx_codegen.migrate.linen.project.fields import FieldFacts
from typed_nnx_codegen.migrate.linen.shapes.operands import Passed
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

# Of how many functions what was found out is remembered.
_KEPT: Final = 4096
ATTRIBUTE: Final = "out_features"
# Where objects of NNX have the last size of what they return.
_OF_LAYERS: Final = {
    "nnx.Linear": ATTRIBUTE,
    "nnx.Conv": ATTRIBUTE,
    "nnx.ConvTranspose": ATTRIBUTE,
    "nnx.Embed": "features",
}


def of_field(
    call_method: CallMethod,
    facts: FieldFacts,
    receiver: FieldModule,
    method: str,
    values: dict[str, Value],
    passed: list[Passed],
    frame: Frame,
) -> Value:
    """Return what a call of a module that a field holds returns."""
    match receiver.default:
        case Ref(name=name):
            layer = find_layer(name)
            if layer is None or method not in layer.calls:
                return UNKNOWN
            try:
                found = layer.output({}, Inputs(values), method)
            except (KeyError, AttributeError, TypeError):
                return UNKNOWN
            attribute = _OF_LAYERS.get(layer.nnx, "")
            return with_last(found, f"self.{receiver.name}.{attribute}") if attribute else found
        case ClassRef(cls=cls):
            called = cls.method(method)
            if called is None:
                return UNKNOWN
            instance = SelfValue(cls, {one.name: UNKNOWN for one in cls.fields()})
            inner = Frame(frame.recorder, frame.analysis, records=False, root=frame.root)
            found = call_method(instance, called, passed, called.node.name, inner)
            if method == "__call__" and facts.has_output(cls):
                return with_last(found, f"self.{receiver.name}.{ATTRIBUTE}")
            return found
    return UNKNOWN


def of_alternatives(
    facts: FieldFacts, site: Site, results: list[Value], joined: Value, frame: Frame
) -> Value:
    """Return what a call of an object of one of several classes returns."""
    targets = [site.target, *(one.target for one in site.alternatives)]
    if not isinstance(joined, Array) or not all(isinstance(one, Array) for one in results):
        return joined
    if not frame.recorder.log.about(Build, site):
        return joined  # another module constructs it: nothing here names it
    if not set(site.loops) <= set(frame.recorder.loops):
        return joined  # one of the items of a list: nothing says which
    if joined.shape.axis(-1) is not None or not joined.shape.expanded(1).dims:
        return joined
    for target in targets:
        if isinstance(target, LinenClass):
            if not facts.has_output(target):
                return joined
        else:
            layer = find_layer(target)
            if layer is None or _OF_LAYERS.get(layer.nnx) != ATTRIBUTE:
                return joined
    if not frame.records:
        return joined  # another module has it
    token = frame.recorder.slots.name(Constructed(site.node))
    return with_last(joined, f"{token}.{ATTRIBUTE}")


def with_last(value: Value, code: str) -> Value:
    """Return an array whose last size an expression says, where it is not known."""
    if not isinstance(value, Array):
        return value
    shape = value.shape.expanded(1)
    if not shape.dims:
        return value
    size: Dim = as_dim(Piece(code))
    return Array(Shape((*shape.dims[:-1], size), shape.lead), value.dtype)


def write_output(writer: ConstructorCode, recorder: Recorder, value: Value) -> bool:
    """Let a module know the last size of what it returns; return whether that is known."""
    size = _last_size(writer, recorder, value)
    if size is None:
        return False
    code = recorder.slots.name(size)
    recorder.block.append(Line(f"self.{ATTRIBUTE} = {code}"))
    return True


def is_sayable(writer: ConstructorCode, recorder: Recorder, value: Value) -> bool:
    """Whether the constructor of a module can say the last size of what it returns."""
    return _last_size(writer, recorder, value) is not None


def _last_size(writer: ConstructorCode, recorder: Recorder, value: Value) -> Dim | None:
    cls = recorder.plan.cls
    if ATTRIBUTE in {*(one.name for one in cls.fields()), *cls.methods()}:
        return None
    size = value.shape.axis(-1) if isinstance(value, Array) else None
    frame = Frame(recorder, cls.analysis, recorder.instance)
    if size is None or not writer.sizes_are_visible(size, frame):
        return None
    return size


# Functions that make a number of numbers.
_ON_NUMBERS: Final = frozenset(
    f"numpy.{name}"
    for name in (
        *("abs", "ceil", "clip", "exp", "floor", "log", "log10", "log2", "maximum", "minimum"),
        *("power", "rint", "round", "sqrt", "square"),
    )
)


def is_number_or_text(literal: object) -> bool:
    """Whether a literal is a number or a text: no truth value, not None."""
    return isinstance(literal, int | float | str) and not isinstance(literal, bool)


def spelled(writer: ConstructorCode, value: Value, node: cst.BaseExpression, frame: Frame) -> Value:
    """Return a literal that an expression computes, so that the constructor has the expression.

    What numpy computes is no number of Python: it has a dtype.
    """
    if not isinstance(value, Const) or not is_number_or_text(value.value):
        return value
    code = writer.of(node, frame)
    return value if code is None else Const(value.value, operand(code))


def computed_number(
    writer: ConstructorCode, name: str, given: Iterable[Value], node: cst.Call, frame: Frame
) -> Code | None:
    """Return what a function of numpy makes of numbers, as code; None for anything else.

    Args:
        writer: Writes expressions for the constructor.
        name: The public name of the function.
        given: Its arguments.
        node: The call.
        frame: Where it is.
    """
    values = list(given)
    if name not in _ON_NUMBERS or not any(isinstance(one, Code | Size) for one in values):
        return None
    if not all(isinstance(one, Const | Size | Code) for one in values):
        return None
    code = writer.of(node, frame)
    return None if code is None else Code(operand(code))


def without_local(value: Array) -> Array:
    """Return an array of which the constructor has no local."""
    return replace(value, made="", of_shapes=False) if value.made else value


def is_made_by(node: cst.BaseExpression, value: Array) -> bool:
    """Whether an expression just names the array: what is computed of it has other numbers."""
    match node:
        case cst.Name():
            return True
        case cst.Attribute(value=cst.Name(), attr=cst.Name(value=name)):
            return value.made == f"self.{name}"
    return False


def with_local(
    writer: ConstructorCode, name: str, value: Array, source: cst.BaseExpression, frame: Frame
) -> Array:
    """Return an array that a name is bound to, with a local where the constructor can compute it.

    Args:
        writer: Writes expressions for the constructor.
        name: The name.
        value: The array.
        source: The expression that makes it.
        frame: Where it is made.
    """
    if not _is_there(frame):
        return value
    if is_changed(name, frame):
        return without_local(value)
    if isinstance(source, (cst.Name, cst.Attribute)) or value.origin:
        return value
    code, of_shapes = _code(writer, source, frame)
    if code is None:
        return without_local(value)
    local = frame.recorder.fresh(name)
    frame.recorder.write(f"{local} = {code}", local)
    return replace(value, made=local, of_shapes=of_shapes)


def with_locals(
    writer: ConstructorCode,
    elements: list[cst.BaseElement],
    parts: list[Value],
    source: cst.BaseExpression,
    frame: Frame,
) -> list[Value]:
    """Return what names are bound to that unpack a tuple, with locals as in `with_local`.

    Args:
        writer: Writes expressions for the constructor.
        elements: The names.
        parts: The items of the tuple.
        source: The expression that makes it.
        frame: Where it is made.
    """
    names = [one.value.value for one in elements if isinstance(one.value, cst.Name)]
    arrays = [one for one in parts if isinstance(one, Array)]
    if not arrays or any(one.origin for one in arrays) or len(names) != len(parts):
        return parts
    if not _is_there(frame) or not isinstance(source, cst.Call):
        return parts
    code, of_shapes = _code(writer, source, frame)
    if code is None or any(is_changed(name, frame) for name in names):
        return parts
    locals_ = [frame.recorder.fresh(name) for name in names]
    joined = ", ".join(locals_)
    frame.recorder.write(f"{joined} = {code}", joined)
    return [
        replace(part, made=local, of_shapes=of_shapes) if isinstance(part, Array) else part
        for part, local in zip(parts, locals_, strict=True)
    ]


def _is_there(frame: Frame) -> bool:
    """Whether the constructor can have a line for a statement of a method."""
    is_of_call = any(one.is_of_call for one in frame.recorder.conditions)
    return frame.binds_locals and not is_of_call


def _code(
    writer: ConstructorCode, source: cst.BaseExpression, frame: Frame
) -> tuple[str | None, bool]:
    """Return the code that makes an array, and whether it reads whole shapes; None if there is none."""
    code = writer.of(source, frame)
    if code is not None:
        return code, False
    with writer.with_shapes():
        return writer.of(source, frame), True


def note_setup(node: cst.SimpleStatementLine, frame: Frame) -> None:
    """Note that the constructor can read the arrays that a statement of `setup` binds."""
    recorder = frame.recorder
    for small in node.body:
        targets = [one.target for one in small.targets] if isinstance(small, cst.Assign) else []
        for target in targets:
            match target:
                case cst.Name(value=name):
                    held = frame.names.get(name)
                    if name in recorder.stale or _is_rebound(name, frame):
                        continue
                    if isinstance(held, Array):
                        frame.names[name] = replace(held, made=name)
                    elif isinstance(held, Code) and not is_place(held.code):
                        frame.names[name] = replace(held, code=name)
                case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=name)):
                    instance = frame.lookup(owner)
                    if not isinstance(instance, SelfValue) or name in recorder.params:
                        continue
                    held = instance.attributes.get(name)
                    if isinstance(held, Array):
                        instance.attributes[name] = replace(held, made=f"self.{name}")


def _is_rebound(name: str, frame: Frame) -> bool:
    """Whether a local of `setup` may be bound again after it was bound: not on another side."""
    if frame.method is None or frame.recorder.loops:
        return True
    blocks = [one for one in descendants(frame.method.node) if isinstance(one, cst.IndentedBlock)]
    return any(sum(name in set(bound_in(one)) for one in block.body) > 1 for block in blocks)


def is_changed(name: str, frame: Frame) -> bool:
    """Whether a method changes what a name is bound to in place: ``table[0] = 1``, ``rows.sort()``."""
    return frame.method is not None and name in _changed_in(frame.method.node)


@lru_cache(maxsize=_KEPT)
def _changed_in(function: cst.FunctionDef) -> frozenset[str]:
    """Return the names of which a function may change what they are bound to."""
    found: set[str] = set()
    for node in descendants(function.body):
        match node:
            case cst.AssignTarget(target=cst.Subscript() as item):
                found |= set(_base(item))
            case cst.AugAssign(target=target):
                found |= set(_base(target))
            case cst.Expr(value=cst.Call(func=func, args=args)):
                found |= set(_base(func))
                found |= {name for arg in args for name in _base(arg.value)}
    return frozenset(found)


def _base(node: cst.BaseExpression) -> Iterator[str]:
    """Yield the name that an item, an attribute or a name is of."""
    while isinstance(node, (cst.Subscript, cst.Attribute)):
        node = node.value
    if isinstance(node, cst.Name):
        yield node.value
