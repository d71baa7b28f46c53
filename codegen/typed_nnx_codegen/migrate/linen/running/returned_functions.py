"""Functions that other functions of the project return: `init = scaled_init(self.gain)`."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from typed_nnx_codegen.migrate.linen.running.frames import Frame, FunctionRef
from typed_nnx_codegen.migrate.linen.running.references import Choice
from typed_nnx_codegen.migrate.linen.running.values import Value
from typed_nnx_codegen.migrate.linen.writing.constructor_code import ConstructorCode
from typed_nnx_codegen.migrate.linen.writing.parentheses import bare


def with_function(
    writer: ConstructorCode, name: str, value: Value, source: cst.Call, frame: Frame
) -> Value:
    """Return what a name is bound to; a function that a call returns is a local of the constructor.

    Args:
        writer: Writes expressions for the constructor.
        name: The name.
        value: What it is bound to.
        source: The call that returns it.
        frame: Where it is made.
    """
    recorder = frame.recorder
    is_here = frame.records and not frame.verbatim and recorder.is_recording
    if not is_here or not _is_returned(value):
        return value
    code = writer.of(source, frame)
    if code is None or any(one.is_of_call for one in recorder.conditions):
        return value
    local = recorder.fresh(name)
    recorder.write(f"{local} = {bare(code)}", local)
    assert isinstance(value, FunctionRef | Choice)
    return replace(value, code=local)


def _is_returned(value: Value) -> bool:
    """Whether a value is a function that is defined in another one, or one of several."""
    match value:
        case FunctionRef(frame=frame, code=code):
            return not code and not frame.records
        case Choice(options=options, code=code):
            return not code and all(isinstance(one, FunctionRef) for one in options)
    return False
