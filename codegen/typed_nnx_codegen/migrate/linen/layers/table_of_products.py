"""The rows of the table for products with a kernel: dense layers, convolutions, embeddings."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.linen.layers.convolution import ConvLayer
from typed_nnx_codegen.migrate.linen.layers.dense import DenseGeneralLayer, DenseLayer
from typed_nnx_codegen.migrate.linen.layers.einsum import EinsumLayer
from typed_nnx_codegen.migrate.linen.layers.embedding import EmbedLayer
from typed_nnx_codegen.migrate.linen.layers.layer import Lacking, Layer, same

_OF_INPUTS: Final = {"__call__": same("inputs")}
_LACKING_CLASS: Final = Lacking(
    None, "NNX has no setting for a class whose object is the function of the product."
)
_DOT_GENERAL: Final = {"dot_general": "jax.lax.dot_general"}

DENSE: Final[tuple[Layer, ...]] = (
    DenseLayer(
        linen="flax.linen.Dense",
        nnx="nnx.Linear",
        parameters=(
            "features",
            "use_bias",
            "dtype",
            "param_dtype",
            "precision",
            "kernel_init",
            "bias_init",
            "promote_dtype",
            "dot_general",
            "dot_general_cls",
        ),
        required=("features",),
        calls=_OF_INPUTS,
        leading=("features",),
        lacking={"dot_general_cls": _LACKING_CLASS},
        functions=_DOT_GENERAL,
    ),
    DenseGeneralLayer(
        linen="flax.linen.DenseGeneral",
        nnx="nnx.LinearGeneral",
        parameters=(
            "features",
            "axis",
            "batch_dims",
            "use_bias",
            "dtype",
            "param_dtype",
            "kernel_init",
            "bias_init",
            "precision",
            "promote_dtype",
            "dot_general",
            "dot_general_cls",
        ),
        required=("features",),
        calls=_OF_INPUTS,
        leading=("features",),
        replaced=("batch_dims",),
        lacking={"dot_general_cls": _LACKING_CLASS},
        functions=_DOT_GENERAL,
    ),
    EmbedLayer(
        linen="flax.linen.Embed",
        nnx="nnx.Embed",
        parameters=(
            "num_embeddings",
            "features",
            "dtype",
            "param_dtype",
            "embedding_init",
            "promote_dtype",
        ),
        required=("num_embeddings", "features"),
        calls={"__call__": same("inputs"), "attend": same("query")},
        leading=("num_embeddings", "features"),
    ),
    EinsumLayer(
        linen="flax.linen.Einsum",
        nnx="nnx.Einsum",
        parameters=(
            "shape",
            "einsum_str",
            "use_bias",
            "dtype",
            "param_dtype",
            "precision",
            "kernel_init",
            "bias_init",
            "promote_dtype",
            "preferred_element_type",
        ),
        required=("shape",),
        calls={"__call__": same("inputs", "einsum_str")},
        replaced=("shape", "einsum_str", "use_bias"),
    ),
)

CONVOLUTIONS: Final[tuple[Layer, ...]] = (
    ConvLayer(
        linen="flax.linen.Conv",
        nnx="nnx.Conv",
        parameters=(
            "features",
            "kernel_size",
            "strides",
            "padding",
            "input_dilation",
            "kernel_dilation",
            "feature_group_count",
            "use_bias",
            "mask",
            "dtype",
            "param_dtype",
            "precision",
            "kernel_init",
            "bias_init",
            "promote_dtype",
            "conv_general_dilated",
            "conv_general_dilated_cls",
        ),
        required=("features", "kernel_size"),
        calls=_OF_INPUTS,
        leading=("features",),
        lacking={"conv_general_dilated_cls": _LACKING_CLASS},
        functions={"conv_general_dilated": "jax.lax.conv_general_dilated"},
    ),
    ConvLayer(
        linen="flax.linen.ConvTranspose",
        nnx="nnx.ConvTranspose",
        parameters=(
            "features",
            "kernel_size",
            "strides",
            "padding",
            "kernel_dilation",
            "use_bias",
            "mask",
            "dtype",
            "param_dtype",
            "precision",
            "kernel_init",
            "bias_init",
            "transpose_kernel",
            "promote_dtype",
            "preferred_element_type",
        ),
        required=("features", "kernel_size"),
        calls=_OF_INPUTS,
        leading=("features",),
        transposes=True,
    ),
)
