"""What names of Linen are written as: those of layers, and of what NNX has under another name."""

from __future__ import annotations

from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.names.linen_names import nnx_name


def written_name(public: str) -> str:
    """Return the name in NNX of a layer or another name of Linen; empty where there is none."""
    layer = find_layer(public)
    name = layer.nnx if layer is not None else nnx_name(public)
    return name if name.startswith("nnx.") else ""
