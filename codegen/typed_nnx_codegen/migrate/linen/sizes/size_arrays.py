"""Arrays whose numbers sizes alone decide: the constructor computes them for first values, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.names.bound_names import bound_in
from typed_nnx_codegen.migrate.linen.running.frames import Frame
from typed_nnx_codegen.migrate.linen.running.references import SelfValue
from typed_nnx_codegen.migrate.linen.running.values import Array, Code, Value
from typed_nnx_codegen.migrate.linen.writing.constructor_code import ConstructorCode
from typed_nnx_codegen.migrate.linen.writing.parentheses import bare, is_atom


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
    frame.recorder.write(f"{local} = {bare(code)}", local)
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
    frame.recorder.write(f"{joined} = {bare(code)}", joined)
    return [
        replace(part, made=local, of_shapes=of_shapes) if isinstance(part, Array) else part
        for part, local in zip(parts, locals_, strict=True)
    ]


def _is_there(frame: Frame) -> bool:
    """Whether the constructor can have a line for a statement of a method."""
    recorder = frame.recorder
    is_of_call = any(one.is_of_call for one in recorder.conditions)
    return frame.records and not frame.verbatim and recorder.is_recording and not is_of_call


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
                    elif isinstance(held, Code) and not is_atom(held.code):
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
    return frame.method is not None and name in set(_changed_in(frame.method.node))


def _changed_in(function: cst.FunctionDef) -> Iterator[str]:
    for node in descendants(function.body):
        match node:
            case cst.AssignTarget(target=cst.Subscript() as item):
                yield from _base(item)
            case cst.AugAssign(target=target):
                yield from _base(target)
            case cst.Expr(value=cst.Call(func=func, args=args)):
                yield from _base(func)
                for arg in args:
                    yield from _base(arg.value)


def _base(node: cst.BaseExpression) -> Iterator[str]:
    """Yield the name that an item, an attribute or a name is of."""
    while isinstance(node, (cst.Subscript, cst.Attribute)):
        node = node.value
    if isinstance(node, cst.Name):
        yield node.value
