"""`nn.Conv` and `nn.ConvTranspose`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from typed_nnx_codegen.migrate.linen.layers.answers import (
    Argument,
    Given,
    Inputs,
    LayerVariable,
    MissingWidth,
    Refused,
)
from typed_nnx_codegen.migrate.linen.layers.known import (
    argument,
    last_axis,
    shape_of,
    size_of,
)
from typed_nnx_codegen.migrate.linen.layers.layer import Layer, use_switch
from typed_nnx_codegen.migrate.linen.running.values import (
    NONE,
    Array,
    CodeTuple,
    Const,
    Lead,
    Seq,
    Shape,
    Size,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes import conv_output, conv_transpose_output
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim


@dataclass(frozen=True, kw_only=True)
class ConvLayer(Layer):
    """`nn.Conv` or `nn.ConvTranspose`.

    Attributes:
        transposes: Whether it is the latter.
    """

    transposes: bool = False

    def widths(
        self, given: Mapping[str, Given], inputs: Inputs | None
    ) -> tuple[Argument, ...] | Refused | MissingWidth:
        """Return the size of the last axis."""
        width = last_axis(inputs, "inputs")
        return MissingWidth("in_features") if width is None else (Argument("", width),)

    def output(self, given: Mapping[str, Given], inputs: Inputs, method: str = "__call__") -> Value:
        """Return an array with other spatial axes and `features` along its last axis."""
        features = size_of(given["features"].value) if "features" in given else None
        shape = shape_of(argument(inputs, "inputs"))
        kernel = _kernel(given)
        if kernel is None:
            unknown = (None,) * (len(shape.dims) - 2)
            batch = shape.dims[:1] if shape.rank else ()
            lead = None if shape.rank else Lead("", None)
            return Array(Shape((*batch, *unknown, features), lead))
        shape = _one_batch_axis(shape, len(kernel))
        if len(shape.dims) <= len(kernel):
            return Array(Shape((features,), Lead("", None)))
        before, spatial = shape.dims[: -len(kernel) - 1], shape.dims[-len(kernel) - 1 : -1]
        sizes = self._spatial(spatial, given)
        return Array(Shape((*before, *sizes, features), shape.lead))

    def _spatial(
        self, spatial: tuple[Dim | None, ...], given: Mapping[str, Given]
    ) -> tuple[Dim | None, ...]:
        window = (
            given["kernel_size"].value,
            _setting(given, "strides"),
            _setting(given, "padding", Const("SAME")),
            _setting(given, "kernel_dilation"),
        )
        if self.transposes:
            return conv_transpose_output(spatial, *window)
        return conv_output(spatial, *window, _setting(given, "input_dilation"))

    def variables(self, given: Mapping[str, Given]) -> tuple[LayerVariable, ...]:
        """Return kernel and bias."""
        return (LayerVariable("params/kernel", "kernel"), *use_switch(given, "use_bias", "bias"))


def _kernel(given: Mapping[str, Given]) -> tuple[Dim | None, ...] | None:
    """Return the size of the kernel along each axis; None where its rank is not known."""
    value = given["kernel_size"].value if "kernel_size" in given else None
    if isinstance(value, Seq):
        return tuple(size_of(item) for item in value.items)
    if isinstance(value, CodeTuple) and value.shape.rank is not None:
        return (None,) * value.shape.rank
    # The code of a setting may stand for a tuple; a size does not.
    if isinstance(value, Size | Const):
        return (size_of(value),)
    return None


def _one_batch_axis(shape: Shape, axes: int) -> Shape:
    """Return the shape of the inputs with a known rank: most have one batch axis."""
    return shape.with_rank(axes + 2) or shape.expanded(axes + 1)


def _setting(given: Mapping[str, Given], name: str, default: Value = NONE) -> Value:
    return given[name].value if name in given else default
