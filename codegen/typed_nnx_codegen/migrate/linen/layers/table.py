"""The table of Linen layers, by public name."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.linen.layers.layer import Layer
from typed_nnx_codegen.migrate.linen.layers.table_of_norms import ELEMENTWISE, NORMS
from typed_nnx_codegen.migrate.linen.layers.table_of_products import CONVOLUTIONS, DENSE
from typed_nnx_codegen.migrate.linen.layers.table_of_sequences import ATTENTION, CELLS, CONTAINERS
from typed_nnx_codegen.migrate.linen.layers.wrappers import LayerWithout

_IN_FLOAT8: Final = "it keeps scales of float8 products in a collection of its own; NNX has none."

# Why a public class of Linen has no counterpart, by name.
NO_COUNTERPART: Final[dict[str, str]] = {
    "flax.linen.ConvLocal": "NNX has no convolution with other weights at each position.",
    "flax.linen.BatchApply": "NNX has no function that merges batch axes.",
    "flax.linen.Fp8DotGeneral": _IN_FLOAT8,
    "flax.linen.Fp8DotGeneralOp": _IN_FLOAT8,
    "flax.linen.Fp8DirectDotGeneralOp": _IN_FLOAT8,
    "flax.linen.NANOOFp8DotGeneralOp": _IN_FLOAT8,
    "flax.linen.Fp8Einsum": _IN_FLOAT8,
}

LAYERS: Final[dict[str, Layer]] = {
    layer.linen: layer
    for layer in (
        *DENSE,
        *CONVOLUTIONS,
        *NORMS,
        *ELEMENTWISE,
        *ATTENTION,
        *CELLS,
        *CONTAINERS,
        *(
            LayerWithout(linen=name, nnx="", parameters=(), calls={}, why=why)
            for name, why in NO_COUNTERPART.items()
        ),
    )
}


def find_layer(name: str) -> Layer | None:
    """Return what is known of a Linen class; None where it is no layer of the table.

    Args:
        name: Its qualified name, as code imports it: ``flax.linen.Dense``,
            ``flax.linen.linear.Dense``.
    """
    package, _, cls = name.rpartition(".")
    if package != "flax.linen" and not package.startswith("flax.linen."):
        return None
    return LAYERS.get(f"flax.linen.{cls}")
