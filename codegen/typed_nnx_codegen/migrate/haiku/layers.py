"""Haiku's layers: a row for each, which computes its arguments for that of the same layer in Linen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.code import operand
from typed_nnx_codegen.migrate.linen.domain.dims import Dim, as_dim
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Const,
    Seq,
    Shape,
    Size,
    Value,
)
from typed_nnx_codegen.migrate.linen.layers import add_layers, find_layer
from typed_nnx_codegen.migrate.linen.layers.layer import (
    Argument,
    Building,
    CallParameter,
    Given,
    Helper,
    Inputs,
    Lacking,
    Layer,
    LayerVariable,
    MissingWidth,
    Refused,
    Settings,
    Template,
    Widths,
    integers,
    last_axis,
    literal,
    literal_of,
    same,
    shape_of,
    size_of,
    with_last,
)
from typed_nnx_codegen.migrate.linen.layers.products import tuple_of
from typed_nnx_codegen.migrate.linen.shapes.operands import dim_of, names, wanted_shape

# The package that translated code imports Haiku's classes from: nothing else is called so.
PACKAGE: Final = "flax.linen.haiku"
KERNEL: Final = Helper("haiku_kernel")
# Those that are in `hk.nets`.
NETS: Final = names(
    "MLP ResNet ResNet18 ResNet34 ResNet50 ResNet101 ResNet152 ResNet200 MobileNetV1"
    " VectorQuantizer VectorQuantizerEMA"
)
_KERNEL_AND_BIAS: Final = (("w", "kernel"), ("b", "bias"))
_BY_HAND: Final = "Write by hand what it is for."
_LAST: Final = Lacking("channels_last", "NNX has the channels in the last axis.")
_OUR_FORMATS: Final = ("channels_last", "NWC", "NHWC", "NDHWC", "N...C")


@dataclass(frozen=True, kw_only=True)
class HaikuLayer(Layer):
    """A layer of Haiku."""

    @property
    def name(self) -> str:
        """Its name as users write it, `hk.Linear`."""
        last = self.linen.rpartition(".")[2]
        return f"hk.{'nets.' * (last in NETS)}{last}"


@dataclass(frozen=True, kw_only=True)
class UnknownLayer(HaikuLayer):
    """A layer that is not migrated."""

    def build(self, given: Settings, inputs: Inputs | None) -> Building:
        """Refuse it."""
        return Refused(f"`{self.name}` is not migrated.", "Write it by hand.")


@dataclass(frozen=True, kw_only=True)
class AlikeLayer(HaikuLayer):
    """A layer that computes what one of Linen does, with other names and defaults.

    Attributes:
        row: The public name of that of Linen.
        renamed: The settings of Linen that its own are.
        inputs: The parameter of Linen that is for its inputs.
        kernel: The setting of Linen for the first kernel, whose default is Haiku's own.
        defaults: The settings of Linen that are not Linen's where they are not given.
        axes_of_kernel: How many axes the kernel of a convolution has; 0 for other layers.
        weights: Its variables, and what they are in the row of Linen.
    """

    row: str
    renamed: Mapping[str, str]
    inputs: str = "inputs"
    kernel: str = ""
    defaults: Mapping[str, tuple[str, Value]] = field(default_factory=dict)
    axes_of_kernel: int = 0
    weights: tuple[tuple[str, str], ...] = _KERNEL_AND_BIAS
    calls: Mapping[str, tuple[CallParameter, ...]] = field(
        default_factory=lambda: {"__call__": same("inputs")}
    )

    @property
    def linens(self) -> Layer:
        """The row of Linen."""
        found = find_layer(self.row)
        assert found is not None
        return found

    def build(self, given: Settings, inputs: Inputs | None) -> Building:
        """Return how the layer is constructed."""
        refused = self._unsupported(given) or self.refused(given, inputs)
        if refused is not None:
            return refused
        built = self.linens.build(self.settings_of(given), self._inputs(inputs))
        asked = self.settings_of(given)[self.kernel].code if self.kernel else ""
        if re.search(rf"\b{KERNEL.name}\b", asked) and not isinstance(
            built, Refused | MissingWidth
        ):
            return replace(built, helpers=(*built.helpers, KERNEL))
        return built

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return what the layer of Linen returns."""
        found = self._inputs(inputs)
        assert found is not None
        return self.linens.output(self.settings_of(given), found, method)

    def variables(self, given: Settings) -> tuple[LayerVariable, ...]:
        """Return its variables, with the attributes of the row of Linen."""
        known = {one.linen: one for one in self.linens.variables(self.settings_of(given))}
        return tuple(
            replace(known[f"params/{linen}"], linen=f"params/{name}")
            for name, linen in self.weights
            if f"params/{linen}" in known
        )

    def refused(self, given: Settings, inputs: Inputs | None) -> Refused | None:
        """Refuse channels in another axis, and a kernel of which it is not seen how many sizes it has."""
        del inputs
        layout = literal(given, "data_format", "channels_last")
        if layout not in _OUR_FORMATS:
            return Refused(
                f"`{self.name}(data_format={given['data_format'].code})`: {_LAST.why}",
                "Move the channels to the last axis.",
            )
        for name in ("axis", "param_axis"):
            axes = literal_of(given[name].value) if name in given and name in self.renamed else None
            if axes is not None and integers(axes) is None:
                return Refused(
                    f"`{self.name}({name}={given[name].code})` does not say which axes these are.",
                    f"Write `{name}` with literal axes.",
                )
        size = given.get("kernel_shape")
        known = (
            size is None or isinstance(size.value, Seq | Size) or integers(literal_of(size.value))
        )
        if self.axes_of_kernel and size is not None and known is None:
            return Refused(
                f"`{self.name}(kernel_shape={size.code})` may be one number or several.",
                "Write it as a tuple, with one number for each axis.",
            )
        return None

    def settings_of(self, given: Settings) -> dict[str, Given]:
        """Return its settings as those of Linen."""
        found: dict[str, Given] = {}
        for name, one in given.items():
            to = self.renamed.get(name)
            if to is None or (to.endswith("_init") and literal_of(one.value) is None):
                continue
            if to.endswith("_init") and _may_be_none(one):
                default = KERNEL.name if to == self.kernel else _INITS[to]
                one = replace(one, code=f"{operand(one.code)} or {default}")
            if to in ("kernel_size", "strides", "kernel_dilation") and self.axes_of_kernel:
                one = _for_each_axis(one, self.axes_of_kernel)
            found[to] = one
        for name, (code, value) in self.defaults.items():
            found.setdefault(name, Given(code, value))
        if self.kernel and self.kernel not in found:
            found[self.kernel] = Given(KERNEL.name)
        return found

    def _inputs(self, inputs: Inputs | None) -> Inputs | None:
        if inputs is None:
            return None
        own = next(iter(self.calls["__call__"])).linen
        return Inputs({self.inputs if k == own else k: v for k, v in inputs.arguments.items()})


_INITS: Final = {
    "bias_init": "nnx.initializers.zeros_init()",
    "scale_init": "nnx.initializers.ones_init()",
    "embedding_init": "nnx.initializers.truncated_normal(1.0)",
}


def _may_be_none(one: Given) -> bool:
    """Whether an initializer may be None: a field may be."""
    return re.fullmatch(r"self\.\w+", one.code.strip()) is not None


def _for_each_axis(one: Given, axes: int) -> Given:
    """Return a size as one for each axis: Haiku takes one number for all."""
    value = one.value
    found = literal_of(value)
    if isinstance(found, int) and not isinstance(found, bool):
        code = f"({', '.join([str(found)] * axes)}{',' if axes == 1 else ''})"
        return Given(code, Seq((value,) * axes), one.keyword)
    if isinstance(value, Size):
        return Given(f"({operand(one.code)},) * {axes}", Seq((value,) * axes), one.keyword)
    return one


@dataclass(frozen=True, kw_only=True)
class ConvLayer(AlikeLayer):
    """A convolution."""

    nnx: str = "nnx.Conv"
    row: str = "flax.linen.Conv"
    renamed: Mapping[str, str] = field(default_factory=lambda: _CONV)
    kernel: str = "kernel_init"


@dataclass(frozen=True, kw_only=True)
class DepthwiseLayer(ConvLayer):
    """A convolution of each channel by itself: in NNX one with as many groups as channels."""

    def build(self, given: Settings, inputs: Inputs | None) -> Building:
        """Return how the layer is constructed."""
        channels, multiplier = last_axis(inputs, "inputs"), given.get("channel_multiplier")
        if channels is None:
            return MissingWidth("in_features")
        built = super().build(self._sized(given, channels), inputs)
        if isinstance(built, Refused | MissingWidth) or multiplier is None:
            return built
        sizes = {
            _FEATURES: Template((f"{operand(multiplier.code)} * ", channels)),
            _GROUPS: Template((channels,)),
        }
        arguments = [
            replace(one, code=sizes[one.code]) if one.code in sizes else one
            for one in built.arguments
            if isinstance(one.code, str)
        ]
        widths = [one for one in built.arguments if not isinstance(one.code, str)]
        return replace(built, arguments=(*widths, *arguments))

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return an array with other channels."""
        channels = last_axis(inputs, "inputs")
        return super().output(given if channels is None else self._sized(given, channels), inputs)

    def _sized(self, given: Settings, channels: Dim) -> Settings:
        multiplier = size_of(given, "channel_multiplier")
        total = UNKNOWN if multiplier is None else Size(channels * multiplier)
        groups = Given(_GROUPS, Size(channels))
        return {**given, "features": Given(_FEATURES, total), "feature_group_count": groups}


# What stands in arguments until sizes are spelled.
_FEATURES: Final = "__features__"
_GROUPS: Final = "__groups__"


@dataclass(frozen=True, kw_only=True)
class OwnLayer(HaikuLayer):
    """A layer that migrated code has from `typed_nnx.migrated`.

    Attributes:
        sizes: The arguments of the call whose last sizes it wants.
        features: The setting that says the last size of its output; empty where that is as before.
        reshaped: The variables whose shape is another one.
    """

    sizes: tuple[str, ...] = ()
    features: str = ""
    reshaped: tuple[tuple[str, str], ...] = ()

    def refused(self, given: Settings, inputs: Inputs | None) -> Refused | None:
        """Refuse settings that these layers do not have."""
        del inputs
        if literal(given, "data_format", "channels_last") not in _OUR_FORMATS:
            return Refused(f"`{self.name}(data_format=...)`: {_LAST.why}", _BY_HAND)
        return None

    def widths(self, given: Settings, inputs: Inputs | None) -> Widths:
        """Return the last sizes of arguments."""
        found = [last_axis(inputs, name) for name in self.sizes]
        known = [one for one in found if one is not None]
        if len(known) < len(found):
            return MissingWidth("num_features" if "norm" in self.name.lower() else "in_features")
        return tuple(Argument("", one) for one in known)

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return an array like the first argument."""
        shape = shape_of(inputs, self.sizes[0])
        if not self.features:
            return Array(shape)
        return Array(with_last(shape, self._last(given)))

    def variables(self, given: Settings) -> tuple[LayerVariable, ...]:
        """Return its variables; those of Haiku may have axes of one item."""
        reshaped = tuple(LayerVariable(*paths, reshape=(-1,)) for paths in self.reshaped)
        return (*super().variables(given), *reshaped)

    def _last(self, given: Settings) -> Dim | None:
        value = given[self.features].value if self.features in given else UNKNOWN
        if isinstance(value, Seq):
            return dim_of(value.items[-1]) if value.items else None
        return dim_of(value)


@dataclass(frozen=True, kw_only=True)
class OwnAttention(OwnLayer):
    """`hk.MultiHeadAttention`."""

    def _passed(self, given: Settings) -> tuple[Argument, ...]:
        scale = given.get("w_init_scale")
        if scale is None or literal_of(scale.value) is None:
            return super()._passed(given)
        code = f"nnx.initializers.variance_scaling({scale.code}, 'fan_in', 'truncated_normal')"
        return (*super()._passed(given), Argument("w_init", code))

    def _last(self, given: Settings) -> Dim | None:
        if literal(given, "model_size") is not None:
            return size_of(given, "model_size")
        heads, size = size_of(given, "num_heads"), size_of(given, "key_size")
        return None if heads is None or size is None else heads * size


@dataclass(frozen=True, kw_only=True)
class OwnAverage(OwnLayer):
    """`hk.ExponentialMovingAverage`, whose state has the shape of what it is called with."""

    def widths(self, given: Settings, inputs: Inputs | None) -> Widths:
        """Return that shape."""
        shape = shape_of(inputs, "value")
        if inputs is not None and "shape" in inputs.arguments:
            shape = wanted_shape(inputs.arguments["shape"])
        dims = [one for one in shape.dims if one is not None]
        if shape.rank is None or len(dims) < len(shape.dims):
            return Refused(
                f"The shape that `{self.name}` is called with is not known.", "Write it by hand."
            )
        return (Argument("", tuple_of(dims) if dims else "()"),)


@dataclass(frozen=True, kw_only=True)
class OwnCore(OwnLayer):
    """A recurrent core.

    Attributes:
        arrays: How many arrays its state is.
    """

    arrays: int = 1

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return the output of a step and the next state; of `initial_state` the state alone."""
        size = self._last(given)
        if method == "initial_state":
            batch = inputs.arguments.get("batch_size", UNKNOWN)
            first = () if literal_of(batch) is None else (dim_of(batch),)
            array: Value = Array(Shape((*first, size)))
        else:
            array = Array(with_last(shape_of(inputs, self.sizes[0]), size))
        state = array if self.arrays == 1 else Seq((array,) * self.arrays)
        return state if method == "initial_state" else Seq((array, state))


_LINEAR: Final = {"with_bias": "use_bias", "w_init": "kernel_init", "b_init": "bias_init"}
_CONV: Final[Mapping[str, str]] = {
    **{one: one for one in ("features", "padding", "mask", "feature_group_count")},
    **_LINEAR,
    "output_channels": "features",
    "kernel_shape": "kernel_size",
    "stride": "strides",
    "rate": "kernel_dilation",
}
_NORM: Final = {
    "create_scale": "use_scale",
    "create_offset": "use_bias",
    "eps": "epsilon",
    "scale_init": "scale_init",
    "offset_init": "bias_init",
    "use_fast_variance": "use_fast_variance",
}
_SCALE_AND_OFFSET: Final = (("scale", "scale"), ("offset", "bias"))
_PRECISE: Final = ("False", Const(False))
_NORM_DEFAULTS: Final = {"epsilon": ("1e-5", UNKNOWN), "use_fast_variance": _PRECISE}
_SHAPE: Final = Lacking(None, "NNX computes the shape of the output itself.")


def _convs(axes: int) -> tuple[Layer, ...]:
    common = "padding with_bias w_init b_init data_format mask"
    conv = ConvLayer(
        linen=f"{PACKAGE}.Conv{axes}D",
        settings=f"output_channels* kernel_shape* stride rate {common} feature_group_count",
        axes_of_kernel=axes,
    )
    depthwise = DepthwiseLayer(
        linen=f"{PACKAGE}.DepthwiseConv{axes}D",
        settings=(
            "channel_multiplier* kernel_shape* stride rate padding with_bias w_init b_init"
            " data_format features feature_group_count"
        ),
        renamed={k: v for k, v in _CONV.items() if k != "output_channels"},
        axes_of_kernel=axes,
    )
    transposed = TransposedConv(
        linen=f"{PACKAGE}.Conv{axes}DTranspose",
        nnx="nnx.ConvTranspose",
        row="flax.linen.ConvTranspose",
        settings=f"output_channels* kernel_shape* stride output_shape {common}",
        axes_of_kernel=axes,
        lacking={"output_shape": _SHAPE, "mask": Lacking(None, "its mask has other axes in NNX.")},
    )
    return conv, depthwise, transposed


@dataclass(frozen=True, kw_only=True)
class TransposedConv(ConvLayer):
    """A transposed convolution, whose kernel has its last two axes exchanged in Haiku."""

    def output(self, given: Settings, inputs: Inputs, method: str = "__call__") -> Value:
        """Return an array with spatial axes as many times as long as the strides are."""
        features = size_of(given, "output_channels")
        shape = shape_of(inputs, "inputs").with_rank(self.axes_of_kernel + 2)
        found = self.settings_of(given)
        strides = integers(literal(found, "strides", (1,) * self.axes_of_kernel))
        if shape is None or strides is None or literal(given, "padding", "SAME") != "SAME":
            return super().output(given, inputs, method)
        sizes = [
            None if size is None else size * as_dim(stride)
            for size, stride in zip(shape.dims[1:-1], strides, strict=True)
        ]
        return Array(Shape((shape.dims[0], *sizes, features)))

    def variables(self, given: Settings) -> tuple[LayerVariable, ...]:
        """Return kernel and bias."""
        axes = tuple(range(self.axes_of_kernel))
        order = (*axes, self.axes_of_kernel + 1, self.axes_of_kernel)
        return tuple(
            replace(one, transpose=order) if one.linen == "params/w" else one
            for one in super().variables(given)
        )


_STEP: Final = {"__call__": same("inputs", "prev_state"), "initial_state": same("batch_size")}


def _linears(*names: str) -> tuple[tuple[str, str], ...]:
    """Return the variables of layers that a layer has, as Haiku and as NNX names them."""
    return tuple(
        (f"params/{name}/{haiku}", f"{name}.{own}")
        for name in names
        for haiku, own in _KERNEL_AND_BIAS
    )


LAYERS: Final[tuple[Layer, ...]] = (
    AlikeLayer(
        linen=f"{PACKAGE}.Linear",
        nnx="nnx.Linear",
        row="flax.linen.Dense",
        settings="output_size* with_bias w_init b_init",
        renamed={"output_size": "features", **_LINEAR},
        kernel="kernel_init",
    ),
    *(layer for axes in (1, 2, 3) for layer in _convs(axes)),
    AlikeLayer(
        linen=f"{PACKAGE}.LayerNorm",
        nnx="nnx.LayerNorm",
        row="flax.linen.LayerNorm",
        settings=(
            "axis* create_scale* create_offset* eps scale_init offset_init use_fast_variance"
            " param_axis"
        ),
        renamed={"axis": "reduction_axes", "param_axis": "feature_axes", **_NORM},
        inputs="x",
        defaults=_NORM_DEFAULTS,
        weights=_SCALE_AND_OFFSET,
    ),
    AlikeLayer(
        linen=f"{PACKAGE}.RMSNorm",
        nnx="nnx.RMSNorm",
        row="flax.linen.RMSNorm",
        settings="axis* eps scale_init create_scale param_axis",
        renamed={"axis": "reduction_axes", "param_axis": "feature_axes", **_NORM},
        inputs="x",
        defaults={"epsilon": ("1e-5", UNKNOWN)},
        weights=_SCALE_AND_OFFSET,
    ),
    AlikeLayer(
        linen=f"{PACKAGE}.GroupNorm",
        nnx="nnx.GroupNorm",
        row="flax.linen.GroupNorm",
        settings="groups* axis create_scale create_offset eps scale_init offset_init data_format",
        renamed={"groups": "num_groups", **_NORM},
        inputs="x",
        lacking={"axis": Lacking(slice(1, None), "NNX reduces all axes but the first.")},
        defaults=_NORM_DEFAULTS,
        weights=_SCALE_AND_OFFSET,
        calls={"__call__": same("x")},
    ),
    AlikeLayer(
        linen=f"{PACKAGE}.InstanceNorm",
        nnx="nnx.InstanceNorm",
        row="flax.linen.InstanceNorm",
        settings="create_scale* create_offset* eps scale_init offset_init data_format",
        renamed=_NORM,
        inputs="x",
        defaults=_NORM_DEFAULTS,
        weights=_SCALE_AND_OFFSET,
    ),
    AlikeLayer(
        linen=f"{PACKAGE}.Embed",
        nnx="nnx.Embed",
        row="flax.linen.Embed",
        settings="vocab_size* embed_dim* embedding_matrix w_init lookup_style precision",
        renamed={
            "vocab_size": "num_embeddings",
            "embed_dim": "features",
            "w_init": "embedding_init",
        },
        lacking={"embedding_matrix": Lacking(None, "NNX draws the first embeddings.")},
        defaults={"embedding_init": (_INITS["embedding_init"], UNKNOWN)},
        weights=(("embeddings", "embedding"),),
        calls={"__call__": same("ids")},
    ),
    OwnLayer(
        linen=f"{PACKAGE}.BatchNorm",
        nnx="HaikuBatchNorm",
        definition=Helper("HaikuBatchNorm"),
        settings=(
            "create_scale! create_offset! decay_rate* eps scale_init offset_init axis"
            " cross_replica_axis cross_replica_axis_index_groups data_format"
        ),
        lacking={"axis": Lacking(None, "it is written for all axes but the last one.")},
        replaced=("data_format",),
        calls={"__call__": same("inputs", "is_training", "test_local_stats", "scale", "offset")},
        sizes=("inputs",),
        reshaped=(
            ("params/scale", "scale"),
            ("params/offset", "offset"),
            *((f"state/~/{one}/hidden", f"{one}.hidden") for one in ("mean_ema", "var_ema")),
            *((f"state/~/{one}/average", f"{one}.average") for one in ("mean_ema", "var_ema")),
        ),
        fixed=tuple(
            (f"state/~/{one}/counter", f"{one}.counter") for one in ("mean_ema", "var_ema")
        ),
    ),
    OwnAverage(
        linen=f"{PACKAGE}.ExponentialMovingAverage",
        nnx="HaikuMovingAverage",
        definition=Helper("HaikuMovingAverage"),
        settings="decay! zero_debias warmup_length",
        calls={"__call__": same("value", "update_stats"), "initialize": same("shape", "dtype")},
        sizes=("value",),
        takes_rngs=False,
        fixed=tuple((f"state/{one}", one) for one in ("counter", "hidden", "average")),
    ),
    OwnAttention(
        linen=f"{PACKAGE}.MultiHeadAttention",
        nnx="HaikuMultiHeadAttention",
        definition=Helper("HaikuMultiHeadAttention"),
        settings=(
            "num_heads! key_size! w_init_scale w_init with_bias b_init value_size model_size"
        ),
        replaced=("w_init_scale",),
        calls={"__call__": same("query", "key", "value", "mask")},
        sizes=("query", "key", "value"),
        features="model_size",
        fixed=_linears("query", "key", "value", "linear"),
    ),
    OwnLayer(
        linen=f"{PACKAGE}.MLP",
        nnx="HaikuMLP",
        definition=Helper("HaikuMLP"),
        settings="output_sizes! w_init b_init with_bias activation activate_final",
        calls={"__call__": same("inputs", "dropout_rate", "rng")},
        sizes=("inputs",),
        features="output_sizes",
        fixed=tuple(
            (f"params/~/linear_{{i}}/{haiku}", f"layers.{{i}}.{own}")
            for haiku, own in _KERNEL_AND_BIAS
        ),
    ),
    OwnCore(
        linen=f"{PACKAGE}.VanillaRNN",
        nnx="HaikuVanillaRNN",
        definition=Helper("HaikuVanillaRNN"),
        settings="hidden_size! double_bias",
        calls=_STEP,
        sizes=("inputs",),
        features="hidden_size",
        fixed=_linears("linear", "linear_1"),
    ),
    OwnCore(
        linen=f"{PACKAGE}.LSTM",
        nnx="HaikuLSTM",
        definition=Helper("HaikuLSTM"),
        settings="hidden_size!",
        calls=_STEP,
        sizes=("inputs",),
        features="hidden_size",
        arrays=2,
        fixed=_linears("linear"),
    ),
    OwnCore(
        linen=f"{PACKAGE}.GRU",
        nnx="HaikuGRU",
        definition=Helper("HaikuGRU"),
        settings="hidden_size! w_i_init w_h_init b_init",
        calls={"__call__": same("inputs", "state"), "initial_state": same("batch_size")},
        sizes=("inputs",),
        features="hidden_size",
        fixed=tuple((f"params/{name}", name) for name in ("w_i", "w_h", "b")),
    ),
)

# Classes of Haiku that build or keep something, and have no row above.
WITHOUT: Final = names(
    "Bias ConvND ConvNDTranspose SeparableDepthwiseConv2D EMAParamsTree"
    " SNParamsTree SpectralNorm Conv1DLSTM Conv2DLSTM Conv3DLSTM DeepRNN ResetCore IdentityCore"
    " ResNet ResNet18 ResNet34 ResNet50 ResNet101 ResNet152 ResNet200 MobileNetV1"
    " VectorQuantizer VectorQuantizerEMA Deferred BatchApply"
)

add_layers((*LAYERS, *(UnknownLayer(linen=f"{PACKAGE}.{name}", nnx="") for name in WITHOUT)))
