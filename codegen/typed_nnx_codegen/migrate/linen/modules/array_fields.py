"""Fields that hold arrays: their sizes are there when the module is constructed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted
from typed_nnx_codegen.migrate.linen.modules.classes import Field
from typed_nnx_codegen.migrate.linen.running.frames import Frame
from typed_nnx_codegen.migrate.linen.running.passed import Passed
from typed_nnx_codegen.migrate.linen.running.values import Array, Code, Lead, Shape, Value
from typed_nnx_codegen.migrate.linen.sizes.dims import Piece, as_dim

_ARRAYS: Final = frozenset({"ndarray", "Array"})


def with_arrays(passed: Iterable[Passed], frame: Frame) -> list[Passed]:
    """Return the arguments of a submodule, with the sizes of those that are arrays in fields."""
    fields = {f"self.{one.name}" for one in frame.recorder.plan.cls.fields() if _is_array(one)}
    return [replace(one, value=_sized(one.value, fields)) for one in passed]


def _sized(value: Value, fields: set[str]) -> Value:
    match value:
        case Code(code=code) if code in fields:
            dims = tuple(as_dim(Piece(f"{code}.shape[{axis}]")) for axis in (-2, -1))
            return Array(Shape(dims, Lead("", None)), made=code)
    return value


def _is_array(one: Field) -> bool:
    """Whether the type of a field says that it holds an array."""
    node = one.annotation.annotation
    if isinstance(node, cst.Subscript):
        node = node.value
    return dotted(node).rpartition(".")[2] in _ARRAYS
