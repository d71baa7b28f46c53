"""The rows of the table for norms and for layers without products."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.linen.layers.answers import LayerVariable
from typed_nnx_codegen.migrate.linen.layers.elementwise import SameShapeLayer
from typed_nnx_codegen.migrate.linen.layers.layer import CallParameter, Layer, same
from typed_nnx_codegen.migrate.linen.layers.normalization import (
    FLOAT32_REDUCTIONS,
    BatchNormLayer,
    GroupNormLayer,
    NormLayer,
)

_OF_NORM: Final = {"__call__": same("x", keyword=("mask",))}
_AFFINE: Final = ("use_bias", "use_scale", "bias_init", "scale_init")
_DEVICES: Final = ("axis_name", "axis_index_groups")
_REDUCTIONS: Final = ("use_fast_variance", "force_float32_reductions")
_OF_REDUCTIONS: Final = {"force_float32_reductions": FLOAT32_REDUCTIONS}

NORMS: Final[tuple[Layer, ...]] = (
    NormLayer(
        linen="flax.linen.LayerNorm",
        nnx="nnx.LayerNorm",
        parameters=(
            "epsilon",
            "dtype",
            "param_dtype",
            *_AFFINE,
            "reduction_axes",
            "feature_axes",
            *_DEVICES,
            *_REDUCTIONS,
        ),
        calls=_OF_NORM,
        lacking=_OF_REDUCTIONS,
        axes="feature_axes",
    ),
    NormLayer(
        linen="flax.linen.RMSNorm",
        nnx="nnx.RMSNorm",
        parameters=(
            "epsilon",
            "dtype",
            "param_dtype",
            "use_scale",
            "scale_init",
            "reduction_axes",
            "feature_axes",
            *_DEVICES,
            *_REDUCTIONS,
        ),
        calls=_OF_NORM,
        lacking=_OF_REDUCTIONS,
        axes="feature_axes",
    ),
    GroupNormLayer(
        linen="flax.linen.GroupNorm",
        nnx="nnx.GroupNorm",
        parameters=(
            "num_groups",
            "group_size",
            "epsilon",
            "dtype",
            "param_dtype",
            *_AFFINE,
            "reduction_axes",
            *_DEVICES,
            *_REDUCTIONS,
        ),
        calls=_OF_NORM,
        lacking=_OF_REDUCTIONS,
    ),
    NormLayer(
        linen="flax.linen.InstanceNorm",
        nnx="nnx.InstanceNorm",
        parameters=(
            "epsilon",
            "dtype",
            "param_dtype",
            *_AFFINE,
            "feature_axes",
            *_DEVICES,
            *_REDUCTIONS,
        ),
        calls=_OF_NORM,
        lacking=_OF_REDUCTIONS,
        axes="feature_axes",
    ),
    BatchNormLayer(
        linen="flax.linen.BatchNorm",
        nnx="nnx.BatchNorm",
        parameters=(
            "use_running_average",
            "axis",
            "momentum",
            "epsilon",
            "dtype",
            "param_dtype",
            *_AFFINE,
            *_DEVICES,
            *_REDUCTIONS,
        ),
        calls={"__call__": same("x", "use_running_average", keyword=("mask",))},
        movable=frozenset({"use_running_average"}),
        lacking=_OF_REDUCTIONS,
        explicit={"use_running_average": "None"},
        axes="axis",
        statistics=True,
    ),
)

ELEMENTWISE: Final[tuple[Layer, ...]] = (
    SameShapeLayer(
        linen="flax.linen.Dropout",
        nnx="nnx.Dropout",
        parameters=("rate", "broadcast_dims", "deterministic", "rng_collection"),
        required=("rate",),
        calls={
            "__call__": (
                CallParameter("inputs", "inputs"),
                CallParameter("deterministic", "deterministic", positional=False),
                CallParameter("rng", "rngs", positional=False),
            )
        },
        movable=frozenset({"deterministic"}),
        leading=("rate",),
        explicit={"deterministic": "None"},
    ),
    SameShapeLayer(
        linen="flax.linen.PReLU",
        nnx="nnx.PReLU",
        parameters=("param_dtype", "negative_slope_init"),
        calls={"__call__": same("inputs")},
        takes_rngs=False,
        kept=(LayerVariable("params/negative_slope", "negative_slope"),),
    ),
)
