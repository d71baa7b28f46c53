"""Attributes of layers that have another name in NNX: how methods read them there."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.running.frames import Frame
from typed_nnx_codegen.migrate.linen.running.references import FieldModule, ModuleValue, Ref
from typed_nnx_codegen.migrate.linen.running.values import UNKNOWN, Code, Value

_WIDE: Final = {"features": "out_features"}
_CELL: Final = {"features": "hidden_features"}
_RENAMED: Final = {
    **dict.fromkeys(("Dense", "DenseGeneral", "Conv", "ConvTranspose"), _WIDE),
    **dict.fromkeys(("LSTMCell", "OptimizedLSTMCell", "GRUCell", "SimpleCell"), _CELL),
}


def read_attribute(
    base: ModuleValue | FieldModule, name: str, node: cst.CSTNode | None, frame: Frame
) -> Value | None:
    """Return an attribute of a layer that NNX names otherwise; None for any other attribute.

    Args:
        base: The layer, or a field that holds one.
        name: The attribute.
        node: The expression that reads it, which is written anew.
        frame: The function.
    """
    if not frame.records or not isinstance(node, cst.Attribute):
        return None
    new = _new_name(base, name)
    if not new:
        return None
    is_any = isinstance(base, FieldModule) and base.default == UNKNOWN
    frame.recorder.replace(node, _code(code_of(node.value).strip(), name, new, is_any=is_any))
    if isinstance(base, ModuleValue):
        return None
    return Code(_code(f"self.{base.name}", name, new, is_any=is_any))


def _code(owner: str, name: str, new: str, *, is_any: bool) -> str:
    if not is_any:
        return f"{owner}.{new}"
    # Other modules have it as it was.
    return f'({owner}.{new} if hasattr({owner}, "{new}") else {owner}.{name})'


def _new_name(base: ModuleValue | FieldModule, name: str) -> str:
    kind: object = None
    if isinstance(base, ModuleValue):
        kind = base.site.target
    elif base.default == UNKNOWN:
        return "out_features" if name == "features" else ""
    elif isinstance(base.default, Ref):
        kind = base.default.name
    if not isinstance(kind, str):
        return ""
    return _RENAMED.get(kind.rpartition(".")[2], {}).get(name, "")
