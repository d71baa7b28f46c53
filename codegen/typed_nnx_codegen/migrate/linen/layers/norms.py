"""Norms, dropout, and layers around another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.code import operand
from typed_nnx_codegen.migrate.linen.domain.dims import product
from typed_nnx_codegen.migrate.linen.domain.values import Array, Value
from typed_nnx_codegen.migrate.linen.layers.layer import (
    KEEP_DTYPES,
    Added,
    Argument,
    Given,
    Inputs,
    Lacking,
    Layer,
    LayerVariable,
    MissingWidth,
    Refused,
    Settings,
    Widths,
    integers,
    is_single_precision,
    literal,
    literal_of,
    shape_of,
    unless_none,
)

FLOAT32_REDUCTIONS: Final = Lacking(
    True,
    "NNX always computes mean and variance in float32 at least.",
    "Remove `force_float32_reductions` if that precision is wanted, or keep the layer with "
    "`nnx.bridge.ToNNX`.",
)


@dataclass(frozen=True, kw_only=True)
class NormLayer(Layer):
    """A norm with `scale` and `bias` for the features.

    Attributes:
        statistics: Whether it has running mean and variance.
    """

    statistics: bool = False

    def widths(self, given: Settings, inputs: Inputs | None) -> Widths:
        """Return the number of features: the product of their axes."""
        shape = shape_of(inputs, "x")
        sizes = [shape.axis(axis) for axis in self._feature_axes(given)]
        known = [size for size in sizes if size is not None]
        if len(known) < len(sizes):
            return MissingWidth("num_features")
        return (Argument("", product(known)),)

    def added(self, given: Settings, inputs: Inputs | None) -> Added:
        """Keep NNX from computing in `dtype`, which Linen has for the result alone."""
        if "promote_dtype" in given or not self._computes_in_other_dtype(given):
            return (), ()
        return (Argument("promote_dtype", KEEP_DTYPES.name),), (KEEP_DTYPES,)

    def call(
        self, given: Settings, arguments: Settings, method: str = "__call__"
    ) -> tuple[Argument, ...] | Refused:
        """Return the arguments of the call, with a mask of bools."""
        mask = arguments.get("mask")
        if mask is not None and not _is_fine(mask.value):
            as_bools = unless_none(mask, f"{operand(mask.code)}.astype(bool)")
            arguments = {**arguments, "mask": Given(as_bools, mask.value, mask.keyword)}
        return super().call(given, arguments, method)

    def variables(self, given: Settings) -> tuple[LayerVariable, ...]:
        """Return scale, bias, mean and variance."""
        reshape = (-1,) if len(self._feature_axes(given)) != 1 else None
        names = [
            name
            for name in ("scale", "bias")
            if f"use_{name}" in self.parameters and literal(given, f"use_{name}", True) is not False
        ]
        parameters = [LayerVariable(f"params/{name}", name, reshape=reshape) for name in names]
        if self.statistics:
            parameters += [LayerVariable(f"batch_stats/{name}", name) for name in ("mean", "var")]
        return tuple(parameters)

    def _feature_axes(self, given: Settings) -> tuple[int, ...]:
        return integers(literal(given, self.axes, -1)) or (-1,) if self.axes else (-1,)

    def _computes_in_other_dtype(self, given: Settings) -> bool:
        return not is_single_precision(given, "dtype")


@dataclass(frozen=True, kw_only=True)
class BatchNormLayer(NormLayer):
    """`nn.BatchNorm`, whose features lie along one axis."""

    def refused(self, given: Settings, inputs: Inputs | None) -> Refused | None:
        """Refuse axes that are not literal, and several."""
        axes = integers(literal(given, "axis", -1))
        if axes is not None and len(axes) != 1:
            return Refused(
                "`nn.BatchNorm` has features along several axes; NNX has one axis for them.",
                "Reshape the inputs so that one axis has the features.",
            )
        return super().refused(given, inputs)

    def _computes_in_other_dtype(self, given: Settings) -> bool:
        # NNX promotes the inputs with mean and variance, which are float32, Linen does not.
        affine = any(literal(given, f"use_{name}", True) is True for name in ("scale", "bias"))
        single = is_single_precision(given, "dtype") and is_single_precision(given, "param_dtype")
        return not single or ("dtype" not in given and not affine)


@dataclass(frozen=True, kw_only=True)
class GroupNormLayer(NormLayer):
    """`nn.GroupNorm`."""

    def refused(self, given: Settings, inputs: Inputs | None) -> Refused | None:
        """Refuse axes that flax.nnx does not compute right."""
        shape = shape_of(inputs, "x")
        axes = integers(literal(given, "reduction_axes", ()))
        usual = axes == () or literal(given, "reduction_axes") is None
        if axes and shape.rank:
            usual = {axis % shape.rank for axis in axes} == set(range(1, shape.rank))
        if usual and shape.rank != 1:
            return None
        return Refused(
            "`nnx.GroupNorm` of flax gives wrong numbers unless the first axis is the only one "
            "that is not reduced.",
            "Reshape the inputs to [batch, ..., features] and remove `reduction_axes`.",
        )


def _is_fine(mask: Value) -> bool:
    """Whether a mask is None, or an array of bools for certain."""
    return literal_of(mask) is None or (
        isinstance(mask, Array) and mask.dtype.rpartition(".")[2] in ("bool", "bool_")
    )
