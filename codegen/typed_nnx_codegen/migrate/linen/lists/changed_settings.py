"""Changes of lists that the constructor makes of fields: `sizes = list(self.sizes)` and then `append`."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.lists.container_changes import CHANGING
from typed_nnx_codegen.migrate.linen.running.frames import Frame
from typed_nnx_codegen.migrate.linen.running.values import NONE, UNKNOWN, Code, OfShapes, Value
from typed_nnx_codegen.migrate.linen.writing.constructor_code import ConstructorCode

_CHANGING: Final = CHANGING | {"add", "discard"}
_GIVING: Final = frozenset({"pop", "popitem", "setdefault"})


def note_setting_call(writer: ConstructorCode, node: cst.Call, frame: Frame) -> Value | None:
    """Note a method call that changes a list or dict: the constructor changes it, too.

    Returns:
        What it returns; None where nothing of that kind is called, or nothing is written.
    """
    match node.func:
        case cst.Attribute(value=cst.Name(value=name) as owner, attr=cst.Name(value=method)) if (
            method in _CHANGING
        ):
            codes = [_argument(writer, arg, frame) for arg in node.args]
            known = [code for code in codes if code is not None]
            change = f".{method}({', '.join(known)})" if len(known) == len(codes) else ""
            local = frame.recorder.fresh(f"{name}_item") if method in _GIVING else ""
            if _change(name, change, frame, local):
                return Code(local) if local else NONE
            if frame.lookup(name) == UNKNOWN:
                frame.values[owner] = frame.values[node.func] = UNKNOWN
    return None


def note_setting_item(
    writer: ConstructorCode, target: cst.Subscript, source: cst.BaseExpression | None, frame: Frame
) -> None:
    """Note that an item of a list or dict is assigned."""
    match target:
        case cst.Subscript(
            value=cst.Name(value=name), slice=[cst.SubscriptElement(slice=cst.Index(value=key))]
        ):
            place = writer.of(key, frame)
            value = None if source is None else writer.of(source, frame)
            is_known = place is not None and value is not None
            _change(name, f"[{place}] = {value}" if is_known else "", frame)
        case cst.Subscript(value=cst.Name(value=name)):
            _change(name, "", frame)


def _argument(writer: ConstructorCode, arg: cst.Arg, frame: Frame) -> str | None:
    code = writer.of(arg.value, frame)
    keyword = f"{arg.keyword.value}=" if arg.keyword is not None else ""
    return None if code is None else f"{arg.star}{keyword}{code}"


def _change(name: str, change: str, frame: Frame, result: str = "") -> bool:
    """Write a change into the constructor, where it has the list; return whether it is written."""
    value = frame.lookup(name)
    recorder = frame.recorder
    if not isinstance(value, Code | OfShapes) or frame.verbatim:
        return False
    if frame.records and not recorder.is_recording:
        return False  # locals of the constructor come when it counts
    is_local = value.code in recorder.locals and not value.home
    is_of_call = any(one.is_of_call for one in recorder.conditions) or bool(recorder.call_loops)
    if frame.records and is_local and change and not is_of_call:
        if result:
            recorder.write(f"{result} = {value.code}{change}", f"{result}, {value.code}")
        else:
            recorder.write(f"{value.code}{change}", value.code)
        return True
    _forget(value, frame)
    return False


def _forget(value: Value, frame: Frame) -> None:
    current: Frame | None = frame
    while current is not None:
        for name, one in current.names.items():
            if one is value or one == value:
                current.names[name] = UNKNOWN
        current = current.outer
