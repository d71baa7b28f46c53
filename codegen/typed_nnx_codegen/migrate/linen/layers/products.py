"""Layers with a kernel, norms, dropout, attention, recurrent cells, and layers around others."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.domain.code import operand
from typed_nnx_codegen.migrate.linen.domain.dims import Dim, Piece, as_dim, product
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    NONE,
    UNKNOWN,
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
    ACCEPTED_ARGUMENTS,
    ATTENTION_IN_ITS_DTYPE,
    KEEP_DTYPES,
    OPEN,
    Added,
    Argument,
    Building,
    Given,
    Helper,
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
    last_axis,
    literal,
    literal_of,
    parsed,
    shape_of,
    size_of,
    unless_none,
    with_last,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import removed
from typed_nnx_codegen.migrate.linen.shapes.contractions import (
    conv_output,
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
    is_open = isinstance(value, Code) and value.holds != "number"
    size = None if is_open else dim_of(value)
    return None if size is None else (size,)


@dataclass(frozen=True, kw_only=True)
class ConvLayer(KernelLayer):
    """`nn.Conv` or `nn.ConvTranspose`.

    Attributes:
        transposes: Whether it is the latter.
    """

    transposes: bool = False

    def _passed(self, given: Settings) -> tuple[Argument, ...]:
        padding = given.get("padding")
        items = padding.value.items if padding and isinstance(padding.value, Seq) else ()
        if padding and any(isinstance(item, Seq) and item.is_list for item in items):
            # Linen makes tuples of lists; NNX takes pairs as tuples alone.
            pairs = literal_of(padding.value)
            code = f"tuple(map(tuple, {padding.code}))" if pairs is OPEN else repr(pairs)
            given = {**given, "padding": replace(padding, code=code)}
        return super()._passed(given)

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return an array with other spatial axes and `features` along its last axis."""
        features = size_of(given, "features")
        shape = shape_of(inputs, "inputs")
        window = _window(given, shape)
        if window is None:
            unknown = (None,) * (len(shape.dims) - 2)
            batch = shape.dims[:1] if shape.rank else ()
            lead = None if shape.rank else Lead("", None)
            return Array(Shape((*batch, *unknown, features), lead))
        axes = len(window.items) if isinstance(window, Seq) else 1
        if isinstance(window, CodeTuple):
            axes = len(window.shape.dims)
        shape = _one_batch_axis(shape, axes)
        if len(shape.dims) <= axes:
            return Array(Shape((features,), Lead("", None)))
        before, spatial = shape.dims[: -axes - 1], shape.dims[-axes - 1 : -1]
        sizes = self._spatial(spatial, window, given)
        return Array(Shape((*before, *sizes, features), shape.lead))

    def _spatial(
        self, spatial: tuple[Dim | None, ...], window: Value, given: Settings
    ) -> tuple[Dim | None, ...]:
        strides = _setting(given, "strides")
        options = (
            window
            if isinstance(strides, Code)
            and isinstance(window, Code)
            and strides.code == window.code
            else strides,
            _setting(given, "padding", Const("SAME")),
            _setting(given, "kernel_dilation"),
        )
        if self.transposes:
            return (None,) * len(spatial)
        return conv_output(spatial, window, *options, _setting(given, "input_dilation"))


def _window(given: Settings, shape: Shape) -> Value | None:
    """Return the size of the kernel along each axis; None where its rank is not known.

    Linen takes no number for it: what code stands for is a tuple, and most inputs have one batch axis.
    """
    value = given["kernel_size"].value if "kernel_size" in given else None
    if isinstance(value, CodeTuple) and value.shape.rank is not None:
        return replace(value, is_sure=True)
    if isinstance(value, Code) and value.holds != "number":
        if not shape.rank or shape.rank < 3 or value.binders:
            return None
        dims = tuple(as_dim(Piece(f"{value.code}[{k}]")) for k in range(shape.rank - 2))
        return CodeTuple(value.code, shape=Shape(dims), is_sure=True)
    return value if isinstance(value, Seq | Size | Const) else None


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


_USUAL: Final = re.compile(r"(?:nn|nnx|(?:flax\.)?(?:linen|nnx))\.(?:\w+\.)?dot_product_attention")


@dataclass(frozen=True, kw_only=True)
class AttentionLayer(Layer):
    """`nn.MultiHeadDotProductAttention`, which is `nnx.MultiHeadAttention`."""

    def refused(self, given: Settings, inputs: Inputs | None) -> Refused | None:
        """Refuse keys and values of different widths, and decoding always."""
        if literal(given, "decode", False) is True:
            return Refused(
                f"`{self.name}(decode=True)` makes its cache where it is initialized; NNX has the "
                "method `init_cache` for it.",
                "Construct with `decode=True` and call `init_cache(shape)` before decoding.",
            )
        key, value = last_axis(inputs, "inputs_k"), last_axis(inputs, "inputs_v")
        if key is None or value is None or not _surely_differ(key, value):
            return None  # NNX raises an error where they are not equal
        return Refused(
            f"Keys have {key.constant} features and values {value.constant}; NNX has one "
            "`in_kv_features` for both.",
            "Bring both to one width, or keep the layer with `nnx.bridge.ToNNX`.",
        )

    def widths(self, given: Settings, inputs: Inputs | None) -> Widths:
        """Return the number of heads and the widths of queries and keys."""
        width = last_axis(inputs, "inputs_q")
        if width is None:
            return MissingWidth("in_features")
        found = (
            Argument("num_heads", given["num_heads"].code),
            Argument("in_features", width),
        )
        names = [
            name
            for name in ("inputs_k", "inputs_kv", "inputs_v")
            if literal_of(argument(inputs, name) if _is_passed(inputs, name) else NONE) is not None
        ]
        if not names:
            return found
        widths = [last_axis(inputs, name) for name in names]
        known = [size for size in widths if size is not None]
        if not known:
            return MissingWidth("in_kv_features")
        return found if known[0] == width else (*found, Argument("in_kv_features", known[0]))

    def added(self, given: Settings, inputs: Inputs | None) -> Added:
        """Adapt the function of attention and the norms of queries and keys."""
        arguments: list[Argument] = []
        helpers: list[Helper] = []
        found = _attention_fn(given)
        if found is not None:
            arguments.append(Argument("attention_fn", found[0]))
            helpers.append(found[1])
        normalizes = literal(given, "normalize_qk", False) is not False
        if normalizes and not is_single_precision(given, "dtype"):
            arguments.append(Argument("ln_promote_dtype", KEEP_DTYPES.name))
            helpers.append(KEEP_DTYPES)
        return tuple(arguments), tuple(helpers)

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return an array like the queries, with `out_features` along its last axis."""
        shape = shape_of(inputs, "inputs_q")
        if literal(given, "out_features") is None:
            return Array(shape)
        return Array(with_last(shape, dim_of(given["out_features"].value)))

    def variables(self, given: Settings) -> tuple[LayerVariable, ...]:
        """Return the projections, the norms and the cache."""
        parts = ["kernel"] if literal(given, "use_bias", True) is False else ["kernel", "bias"]
        layers = ("query", "key", "value", "out")
        names = [(f"params/{name}/{part}", f"{name}.{part}") for name in layers for part in parts]
        if literal(given, "normalize_qk", False) is not False:
            norms = ("query_ln", "key_ln")
            names += [(f"params/{name}/scale", f"{name}.scale") for name in norms]
        if literal(given, "decode", False) is not False:
            names += [
                (f"cache/{name}", name) for name in ("cached_key", "cached_value", "cache_index")
            ]
        return tuple(LayerVariable(*pair) for pair in names)


def _surely_differ(first: Dim, second: Dim) -> bool:
    """Whether two sizes are numbers, and not the same; others are equal as far as can be seen."""
    return first != second and first.constant is not None and second.constant is not None


def _is_passed(inputs: Inputs | None, name: str) -> bool:
    return inputs is not None and name in inputs.arguments


def _attention_fn(given: Settings) -> tuple[str, Helper] | None:
    """Return code for the function of attention, and the helper in it; None for that of NNX."""
    own = given["attention_fn"].code.strip() if "attention_fn" in given else ""
    if own and _USUAL.fullmatch(own) is None:
        return f"{ACCEPTED_ARGUMENTS.name}({own})", ACCEPTED_ARGUMENTS
    single = is_single_precision(given, "dtype") and is_single_precision(given, "param_dtype")
    if single and literal(given, "precision") is None:
        return None
    # That of NNX ignores the precision, and has softmax in float32 where nothing is dropped.
    return ATTENTION_IN_ITS_DTYPE.name, ATTENTION_IN_ITS_DTYPE


_ZEROS: Final = re.compile(r"(?:[\w.]+\.)?(?:zeros|zeros_init\(\))")
_FIXED: Final = re.compile(r"(?:[\w.]+\.)?(?:ones|ones_init\(\)|constant\(.*\))")


@dataclass(frozen=True, kw_only=True)
class CellLayer(Layer):
    """A cell of a recurrent network.

    Attributes:
        arrays: How many arrays the carry is: 1, or 2 in a tuple.
        gates: The layers in it: the path in Linen, the attribute in NNX, and the names of their
            parameters.
    """

    arrays: int = 1
    gates: tuple[tuple[str, str, tuple[str, ...]], ...]

    def build(self, given: Settings, inputs: Inputs | None) -> Building:
        """Return how the cell is constructed; its first carry is zeros by default."""
        kept = dict(given)
        if "carry_init" in kept and _ZEROS.fullmatch(kept["carry_init"].code):
            del kept["carry_init"]
        return super().build(kept, inputs)

    def refused(self, given: Settings, inputs: Inputs | None) -> Refused | None:
        """Refuse a random first carry, and a carry of another width."""
        if "carry_init" in given and not _FIXED.fullmatch(given["carry_init"].code):
            return Refused(
                f"`{self.name}(carry_init={given['carry_init'].code})`: NNX draws the first carry "
                "with another key, so its numbers would differ.",
                "Pass the first carry to the call as `initial_carry`.",
            )
        carry = argument(inputs, "carry")
        if isinstance(carry, Seq) and carry.items:
            carry = carry.items[-1]
        shape = carry.shape if isinstance(carry, Array) else ANY_SHAPE
        width, features = shape.axis(-1), size_of(given, "features")
        if width is None or features is None or not _surely_differ(width, features):
            return None  # the product fails where they are not equal
        return Refused(
            f"`{self.name}` has {features.constant} features and a carry of {width.constant}; "
            "Linen takes the width of the carry, NNX the features.",
            "Construct the cell with the width of the carry.",
        )

    def widths(self, given: Settings, inputs: Inputs | None) -> Widths:
        """Return the size of the last axis of the inputs of a step."""
        width = last_axis(inputs, "inputs")
        if width is None:
            width = wanted_shape(argument(inputs, "input_shape")).axis(-1)
        return MissingWidth("in_features") if width is None else (Argument("", width),)

    def call(
        self, given: Settings, arguments: Settings, method: str = "__call__"
    ) -> tuple[Argument, ...] | Refused:
        """Return the arguments of a step, or of `initialize_carry` in the order of NNX."""
        if method != "initialize_carry":
            return super().call(given, arguments, method)
        if not arguments.keys() >= {"rng", "input_shape"}:
            return Refused(
                "`initialize_carry` is called without `rng` and `input_shape`.",
                "Call it as flax 0.12 has it: `cell.initialize_carry(rng, input_shape)`.",
            )
        shape, key = arguments["input_shape"], arguments["rng"]
        return (Argument("", shape.code), Argument("", f"nnx.Rngs(carry={key.code})"))

    def first_carry(self, given: Settings, input_shape: cst.BaseExpression) -> str | None:
        """Return an expression for what `initialize_carry` returns, which needs no cell.

        Args:
            given: The arguments of the Linen constructor.
            input_shape: The shape of the inputs.

        Returns:
            Code in terms of ``jnp``; None where the carry is not zeros.
        """
        if "features" not in given:
            return None
        if "carry_init" in given and not _ZEROS.fullmatch(given["carry_init"].code):
            return None
        dtype = f", {given['param_dtype'].code}" if "param_dtype" in given else ""
        match input_shape:
            case cst.Tuple(elements=[*batch, cst.Element()]):
                lead = [
                    f"{'*' * isinstance(one, cst.StarredElement)}{code_of(one.value)}"
                    for one in batch
                ]
            case _:
                lead = [f"*{operand(code_of(input_shape))}[:-1]"]
        zeros = f"jnp.zeros(({', '.join([*lead, given['features'].code])}){dtype})"
        return zeros if self.arrays == 1 else f"({zeros}, {zeros})"

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return the carry and, of a step, the output."""
        features = size_of(given, "features")
        of_carry = method == "initialize_carry"
        shape = (
            wanted_shape(argument(inputs, "input_shape"))
            if of_carry
            else shape_of(inputs, "inputs")
        )
        array = Array(with_last(shape, features))
        carry: Value = array if self.arrays == 1 else Seq((array,) * self.arrays)
        return carry if of_carry else Seq((carry, array))

    def variables(self, given: Settings) -> tuple[LayerVariable, ...]:
        """Return the parameters of the gates."""
        off = literal(given, "use_bias", True) is False
        return tuple(
            LayerVariable(f"params/{linen}/{part}", f"{nnx}.{part}")
            for linen, nnx, parts in self.gates
            for part in parts
            if not (off and part == "bias")
        )


@dataclass(frozen=True, kw_only=True)
class SequentialLayer(Layer):
    """`nn.Sequential`, whose layers NNX takes one by one."""

    def widths(self, given: Settings, inputs: Inputs | None) -> Widths:
        """Return the layers."""
        del inputs
        return tuple(Argument("", code) for code in _items(given["layers"].code))


@dataclass(frozen=True, kw_only=True)
class OverTimeLayer(Layer):
    """`nn.RNN` or `nn.Bidirectional`.

    Where the features of a cell are known, its `Given` has them as value, a `Size`.
    """

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return the outputs of all steps; after the carry where that is asked for."""
        total: Dim | None = None
        widths = [size_of(given, name) for name in self.leading]
        known = [width for width in widths if width is not None]
        if len(known) == len(widths) and "merge_fn" not in given:
            total = sum(known[1:], known[0])
        outputs = Array(with_last(shape_of(inputs, "inputs"), total))
        asked = literal_of(inputs.arguments.get("return_carry", UNKNOWN))
        if "return_carry" not in inputs.arguments or asked is None:
            asked = literal(given, "return_carry", False)
        if not isinstance(asked, bool):
            return UNKNOWN
        return Seq((UNKNOWN, outputs)) if asked else outputs


def _items(code: str) -> list[str]:
    """Return the items of a list or tuple that is written out; else its code with a star."""
    tree = parsed(code)
    if not isinstance(tree, ast.List | ast.Tuple):
        return [f"*{operand(code)}"]
    return [ast.unparse(item) for item in tree.elts]
