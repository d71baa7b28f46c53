"""Layers with a kernel: dense, convolutional, `nn.Einsum`, `nn.Embed`."""

from __future__ import annotations

from dataclasses import dataclass

from typed_nnx_codegen.migrate.linen.domain.code import operand
from typed_nnx_codegen.migrate.linen.domain.dims import Dim
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
    Argument,
    Given,
    Inputs,
    KernelLayer,
    Layer,
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
