"""Layers with a kernel, norms, dropout, and layers around another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.code import operand
from typed_nnx_codegen.migrate.linen.domain.dims import Dim, product
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    NONE,
    Array,
    Code,
    CodeTuple,
    Const,
    Lead,
    Seq,
    Shape,
    Size,
    Value,
)
from typed_nnx_codegen.migrate.linen.layers.layer import (
    KEEP_DTYPES,
    Added,
    Argument,
    Given,
    Inputs,
    KernelLayer,
    Lacking,
    Layer,
    LayerVariable,
    MissingWidth,
    Refused,
    Settings,
    Template,
    Widths,
    argument,
    integers,
    is_single_precision,
    literal,
    literal_of,
    shape_of,
    size_of,
    unless_none,
    with_last,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import removed
from typed_nnx_codegen.migrate.linen.shapes.contractions import (
    conv_output,
    conv_transpose_output,
    letters,
    summed,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import dim_of, wanted_shape


@dataclass(frozen=True, kw_only=True)
class DenseLayer(KernelLayer):
    """`nn.Dense`, which is `nnx.Linear`."""

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return an array with `features` along its last axis."""
        features = size_of(given, "features")
        return Array(with_last(shape_of(inputs, "inputs"), features))


@dataclass(frozen=True, kw_only=True)
class DenseGeneralLayer(DenseLayer):
    """`nn.DenseGeneral`, which is `nnx.LinearGeneral`."""

    def widths(self, given: Settings, inputs: Inputs | None) -> Widths:
        """Return the sizes of the contracted axes in the order of the kernel."""
        shape = shape_of(inputs, "inputs")
        axes = _in_order(integers(literal(given, "axis", -1)) or (), shape)
        if axes is None:
            return MissingWidth("in_features")
        widths = _known([shape.axis(axis) for axis in axes])
        if widths is None:
            return MissingWidth("in_features")
        return (Argument("", widths[0] if len(widths) == 1 else tuple_of(widths)),)

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return an array without the contracted axes and with `features` at its end."""
        axes = integers(literal(given, "axis", -1))
        features = _features(given["features"].value) if "features" in given else None
        shape = shape_of(inputs, "inputs")
        if not axes or features is None or (shape.rank is None and max(axes) >= 0):
            return Array(ANY_SHAPE)
        kept = removed(shape, axes)
        return Array(Shape((*kept.dims, *features), kept.lead))


def tuple_of(sizes: list[Dim]) -> Template:
    """Return code for a tuple of sizes."""
    parts: list[str | Dim] = ["("]
    for at, size in enumerate(sizes):
        parts.extend((", ", size) if at else (size,))
    return Template((*parts, ",)" if len(sizes) == 1 else ")"))


def _known(sizes: list[Dim | None]) -> list[Dim] | None:
    """Return sizes if all are known."""
    known = [size for size in sizes if size is not None]
    return known if len(known) == len(sizes) else None


def _in_order(axes: tuple[int, ...], shape: Shape) -> tuple[int, ...] | None:
    """Return axes in the order in which the kernel has them; None where the rank decides it."""
    if all(axis < 0 for axis in axes) or all(axis >= 0 for axis in axes):
        return tuple(sorted(axes))
    if shape.rank is None:
        return None
    return tuple(sorted(axis % shape.rank for axis in axes))


def _features(value: Value) -> tuple[Dim | None, ...] | None:
    """Return the sizes of the new axes; None where it is not known how many they are."""
    if isinstance(value, Seq):
        return tuple(dim_of(item) for item in value.items)
    # The code of a setting may stand for a tuple; a size does not.
    is_open = isinstance(value, Code) and not value.is_number
    size = None if is_open else dim_of(value)
    return None if size is None else (size,)


@dataclass(frozen=True, kw_only=True)
class ConvLayer(KernelLayer):
    """`nn.Conv` or `nn.ConvTranspose`.

    Attributes:
        transposes: Whether it is the latter.
    """

    transposes: bool = False

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return an array with other spatial axes and `features` along its last axis."""
        features = size_of(given, "features")
        shape = shape_of(inputs, "inputs")
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

    def _spatial(self, spatial: tuple[Dim | None, ...], given: Settings) -> tuple[Dim | None, ...]:
        window = (
            given["kernel_size"].value,
            _setting(given, "strides"),
            _setting(given, "padding", Const("SAME")),
            _setting(given, "kernel_dilation"),
        )
        if self.transposes:
            return conv_transpose_output(spatial, *window)
        return conv_output(spatial, *window, _setting(given, "input_dilation"))


def _kernel(given: Settings) -> tuple[Dim | None, ...] | None:
    """Return the size of the kernel along each axis; None where its rank is not known."""
    value = given["kernel_size"].value if "kernel_size" in given else None
    if isinstance(value, Seq):
        return tuple(dim_of(item) for item in value.items)
    if isinstance(value, CodeTuple) and value.shape.rank is not None:
        return (None,) * value.shape.rank
    # The code of a setting may stand for a tuple; a size does not.
    if isinstance(value, Size | Const):
        return (dim_of(value),)
    return None


def _one_batch_axis(shape: Shape, axes: int) -> Shape:
    """Return the shape of the inputs with a known rank: most have one batch axis."""
    return shape.with_rank(axes + 2) or shape.expanded(axes + 1)


def _setting(given: Settings, name: str, default: Value = NONE) -> Value:
    return given[name].value if name in given else default


@dataclass(frozen=True, kw_only=True)
class EinsumLayer(KernelLayer):
    """`nn.Einsum`, for which NNX wants the shape of the bias."""

    def refused(self, given: Settings, inputs: Inputs | None) -> Refused | None:
        """Refuse an equation that is needed and not literal."""
        has_bias = literal(given, "use_bias", True) is not False
        in_constructor = literal(given, "einsum_str") is not None
        equation = _equation(given, inputs)
        fix = "Write the equation as a literal in the constructor."
        if not in_constructor and equation is None:
            return Refused("NNX wants the equation of `nn.Einsum` where it is constructed.", fix)
        if has_bias and (equation is None or "." in equation[1]):
            return Refused(
                "The equation of `nn.Einsum` does not say the shape of its bias, which NNX wants.",
                fix,
            )
        return None

    def widths(self, given: Settings, inputs: Inputs | None) -> Widths:
        """Return the equation and the shapes of kernel and bias."""
        shape = given["shape"]
        if literal(given, "einsum_str") is not None:
            text = given["einsum_str"].code
        else:
            text = repr(literal_of(argument(inputs, "einsum_str")))
        found = (Argument("", text), Argument("", shape.code))
        switch = literal(given, "use_bias", True)
        equation = _equation(given, inputs)
        if switch is False or equation is None:
            return found
        _, kernel, result = equation
        axes = [kernel.index(letter) for letter in result if letter in kernel]
        bias = _picked(shape, axes)
        if switch is not True:
            bias = f"{bias} if {operand(given['use_bias'].code)} else None"
        return (*found, Argument("bias_shape", bias))

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return the array of the result of the equation."""
        equation = _equation(given, inputs)
        if equation is None:
            return Array(ANY_SHAPE)
        first, second, result = map(letters, equation)
        kernel = wanted_shape(given["shape"].value) if "shape" in given else ANY_SHAPE
        operands = (shape_of(inputs, "inputs"), kernel)
        made = summed(",".join(equation), [first, second], operands, result)
        return Array(made) if isinstance(made, Shape) else made


def _equation(given: Settings, inputs: Inputs | None) -> tuple[str, str, str] | None:
    """Return the axes of inputs, kernel and result; None where they are not literal."""
    text = literal(given, "einsum_str")
    if text is None:
        text = literal_of(argument(inputs, "einsum_str"))
    if not isinstance(text, str):
        return None
    operands, arrow, result = text.replace(" ", "").partition("->")
    first, comma, second = operands.partition(",")
    return (first, second, result) if arrow and comma and "," not in second else None


def _picked(shape: Given, axes: list[int]) -> str:
    """Return code for a tuple of some sizes of a shape."""
    if isinstance(shape.value, Seq) and literal_of(shape.value) and not axes:
        return "()"
    items = [f"{operand(shape.code)}[{axis}]" for axis in axes]
    constants = literal_of(shape.value)
    if isinstance(constants, tuple):
        items = [str(constants[axis]) for axis in axes]
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


@dataclass(frozen=True, kw_only=True)
class EmbedLayer(Layer):
    """`nn.Embed`, which is `nnx.Embed`."""

    def call(
        self, given: Settings, arguments: Settings, method: str = "__call__"
    ) -> tuple[Argument, ...] | Refused:
        """Return the arguments; `attend` of parameters in half precision is refused."""
        if (
            method == "attend"
            and literal(given, "dtype") is None
            and not is_single_precision(given, "param_dtype")
        ):
            return Refused(
                "`nn.Embed.attend` without a dtype computes in the wider dtype of query and "
                "embedding, `nnx.Embed.attend` in that of the embedding.",
                "Give the layer the `dtype` to compute in.",
            )
        return super().call(given, arguments, method)

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return an array with a new last axis; of `attend`, with another one."""
        if method == "attend":
            count = size_of(given, "num_embeddings")
            return Array(with_last(shape_of(inputs, "query"), count))
        features = size_of(given, "features")
        shape = shape_of(inputs, "inputs")
        return Array(Shape((*shape.dims, features), shape.lead))


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
