"""TN129: ``nnx.is_data_type`` is ``nnx.is_data``."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.values import External, ProjectClass
from typed_nnx_codegen.migrate.patterns.renaming import Renaming
from typed_nnx_codegen.migrate.registry import register

_IS_DATA = "nnx.is_data_type"


@register
class RenameIsDataType(Renaming):
    """`nnx.is_data` asks of a value whether it is data.

    A call with a class gets a marker, since `nnx.is_data` of any class is false.
    """

    code = "TN129"
    title = "`nnx.is_data_type` is `nnx.is_data`"
    since = (0, 12, 8)
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

- assert nnx.is_data_type(nnx.Param(1))
+ assert nnx.is_data(nnx.Param(1))
"""
    names = {"is_data_type": "is_data"}

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Mark a call with a class."""
        if self.file.name(original.func) == _IS_DATA and len(original.args) == 1:
            value = self.file.value(original.args[0].value)
            is_class = isinstance(value, ProjectClass) or (
                isinstance(value, External) and value.name.rpartition(".")[2][:1].isupper()
            )
            if is_class:
                self.file.decide(
                    original, "`is_data` takes a value and is false for a class; give it an object"
                )
        return updated
