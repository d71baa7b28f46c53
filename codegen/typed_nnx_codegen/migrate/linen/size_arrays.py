"""Arrays whose numbers sizes alone decide: the constructor computes them for first values, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.frames import Frame
from typed_nnx_codegen.migrate.linen.parentheses import bare
from typed_nnx_codegen.migrate.linen.values import Array

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.executor import Executor


def without_local(value: Array) -> Array:
    """Return an array of which the constructor has no local."""
    return replace(value, made="", of_shapes=False) if value.made else value


def with_local(
    executor: Executor, name: str, value: Array, source: cst.BaseExpression, frame: Frame
) -> Array:
    """Return an array that a name is bound to, with a local where the constructor can compute it.

    Args:
        executor: What goes through the method.
        name: The name.
        value: The array.
        source: The expression that makes it.
        frame: Where it is made.
    """
    recorder = frame.recorder
    is_here = frame.records and not frame.verbatim and recorder.is_recording
    is_plain = isinstance(source, (cst.Name, cst.Attribute)) or bool(value.origin)
    if not is_here or is_plain or any(one.is_of_call for one in recorder.conditions):
        return value
    if is_changed(name, frame):
        return without_local(value)
    code = executor.code.of(source, frame)
    of_shapes = code is None
    if of_shapes:
        with executor.code.with_shapes():
            code = executor.code.of(source, frame)
    if code is None:
        return without_local(value)
    local = recorder.fresh(name)
    recorder.write(f"{local} = {bare(code)}", local)
    return replace(value, made=local, of_shapes=of_shapes)


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
