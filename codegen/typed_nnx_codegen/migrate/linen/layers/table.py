"""The table of Linen layers, by public name: each row is a `Layer`."""

from __future__ import annotations

from collections.abc import Iterable
from keyword import iskeyword
from typing import Final

from typed_nnx_codegen.migrate.linen.layers.layer import (
    CONV_LSTM_CELL,
    GRU_CELL,
    MGU_CELL,
    SPECTRAL_NORM,
    WEIGHT_NORM,
    CallParameter,
    Lacking,
    Layer,
    same,
)
from typed_nnx_codegen.migrate.linen.layers.products import (
    FLOAT32_REDUCTIONS,
    AttentionLayer,
    BatchNormLayer,
    CellLayer,
    ConvLayer,
    DenseGeneralLayer,
    DenseLayer,
    EinsumLayer,
    EmbedLayer,
    GroupNormLayer,
    NormLayer,
    OverTimeLayer,
    SequentialLayer,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import names

_OF_INPUTS: Final = {"__call__": same("inputs")}
_LACKING_CLASS: Final = Lacking(
    None, "NNX has no setting for a class whose object is the function of the product."
)
_SHARDED: Final = Lacking(None, "NNX calls the function of the product with `out_sharding`, too.")

DENSE: Final[tuple[Layer, ...]] = (
    DenseLayer(
        linen="flax.linen.Dense",
        nnx="nnx.Linear",
        settings=(
            "features! use_bias dtype param_dtype precision kernel_init bias_init promote_dtype"
            " dot_general dot_general_cls"
        ),
        calls=_OF_INPUTS,
        lacking={"dot_general": _SHARDED, "dot_general_cls": _LACKING_CLASS},
    ),
    DenseGeneralLayer(
        linen="flax.linen.DenseGeneral",
        nnx="nnx.LinearGeneral",
        settings=(
            "features! axis batch_dims use_bias dtype param_dtype kernel_init bias_init precision"
            " promote_dtype dot_general dot_general_cls"
        ),
        calls=_OF_INPUTS,
        lacking={
            "dot_general": _SHARDED,
            "dot_general_cls": _LACKING_CLASS,
            "batch_dims": Lacking((), "NNX takes the sizes of batch axes, as `batch_axis`."),
        },
        axes="axis",
    ),
    EmbedLayer(
        linen="flax.linen.Embed",
        nnx="nnx.Embed",
        settings="num_embeddings! features! dtype param_dtype embedding_init promote_dtype",
        calls={"__call__": same("inputs"), "attend": same("query")},
        fixed=(("params/embedding", "embedding"),),
    ),
    EinsumLayer(
        linen="flax.linen.Einsum",
        nnx="nnx.Einsum",
        settings=(
            "shape* einsum_str use_bias dtype param_dtype precision kernel_init bias_init"
            " promote_dtype preferred_element_type"
        ),
        calls={"__call__": same("inputs", "einsum_str")},
        replaced=names("shape einsum_str use_bias"),
    ),
)

CONVOLUTIONS: Final[tuple[Layer, ...]] = (
    ConvLayer(
        linen="flax.linen.Conv",
        nnx="nnx.Conv",
        settings=(
            "features! kernel_size* strides padding input_dilation kernel_dilation"
            " feature_group_count use_bias mask dtype param_dtype precision kernel_init bias_init"
            " promote_dtype conv_general_dilated conv_general_dilated_cls"
        ),
        calls=_OF_INPUTS,
        lacking={
            "conv_general_dilated": _SHARDED,
            "conv_general_dilated_cls": _LACKING_CLASS,
        },
    ),
    ConvLayer(
        linen="flax.linen.ConvTranspose",
        nnx="nnx.ConvTranspose",
        settings=(
            "features! kernel_size* strides padding kernel_dilation use_bias mask dtype"
            " param_dtype precision kernel_init bias_init transpose_kernel promote_dtype"
            " preferred_element_type"
        ),
        calls=_OF_INPUTS,
        transposes=True,
    ),
)


_OF_NORM: Final = {"__call__": same("x", keyword=("mask",))}
_AFFINE: Final = "use_bias use_scale bias_init scale_init"
_DEVICES: Final = "axis_name axis_index_groups"
_REDUCTIONS: Final = "use_fast_variance force_float32_reductions"
_OF_REDUCTIONS: Final = {"force_float32_reductions": FLOAT32_REDUCTIONS}

NORMS: Final[tuple[Layer, ...]] = (
    NormLayer(
        linen="flax.linen.LayerNorm",
        nnx="nnx.LayerNorm",
        settings=(
            f"epsilon dtype param_dtype {_AFFINE} reduction_axes feature_axes {_DEVICES}"
            f" {_REDUCTIONS}"
        ),
        calls=_OF_NORM,
        lacking=_OF_REDUCTIONS,
        same_shape="x",
        axes="feature_axes",
    ),
    NormLayer(
        linen="flax.linen.RMSNorm",
        nnx="nnx.RMSNorm",
        settings=(
            "epsilon dtype param_dtype use_scale scale_init reduction_axes feature_axes"
            f" {_DEVICES} {_REDUCTIONS}"
        ),
        calls=_OF_NORM,
        lacking=_OF_REDUCTIONS,
        same_shape="x",
        axes="feature_axes",
    ),
    GroupNormLayer(
        linen="flax.linen.GroupNorm",
        nnx="nnx.GroupNorm",
        settings=(
            f"num_groups group_size epsilon dtype param_dtype {_AFFINE} reduction_axes {_DEVICES}"
            f" {_REDUCTIONS}"
        ),
        calls=_OF_NORM,
        lacking=_OF_REDUCTIONS,
        same_shape="x",
    ),
    NormLayer(
        linen="flax.linen.InstanceNorm",
        nnx="nnx.InstanceNorm",
        settings=f"epsilon dtype param_dtype {_AFFINE} feature_axes {_DEVICES} {_REDUCTIONS}",
        calls=_OF_NORM,
        lacking=_OF_REDUCTIONS,
        same_shape="x",
        axes="feature_axes",
    ),
    BatchNormLayer(
        linen="flax.linen.BatchNorm",
        nnx="nnx.BatchNorm",
        settings=(
            f"use_running_average axis momentum epsilon dtype param_dtype {_AFFINE} {_DEVICES}"
            f" {_REDUCTIONS}"
        ),
        calls={"__call__": same("x", "use_running_average", keyword=("mask",))},
        movable=frozenset({"use_running_average"}),
        lacking=_OF_REDUCTIONS,
        same_shape="x",
        explicit={"use_running_average": "None"},
        axes="axis",
        statistics=True,
    ),
)

ELEMENTWISE: Final[tuple[Layer, ...]] = (
    Layer(
        linen="flax.linen.Dropout",
        nnx="nnx.Dropout",
        settings="rate! broadcast_dims deterministic rng_collection",
        calls={
            "__call__": (
                CallParameter("inputs", "inputs"),
                CallParameter("deterministic", "deterministic", positional=False),
                CallParameter("rng", "rngs", positional=False),
            )
        },
        movable=frozenset({"deterministic"}),
        explicit={"deterministic": "None"},
        same_shape="inputs",
    ),
    Layer(
        linen="flax.linen.PReLU",
        nnx="nnx.PReLU",
        settings="param_dtype negative_slope_init",
        calls={"__call__": same("inputs")},
        takes_rngs=False,
        same_shape="inputs",
        fixed=(("params/negative_slope", "negative_slope"),),
    ),
)


_BY_NAME: Final = ("mask", "deterministic")
_DROPOUT_RNG: Final = CallParameter("dropout_rng", "rngs", positional=False, stream="dropout")
_SOW: Final = CallParameter("sow_weights", "sow_weights", positional=False)
_CROSS: Final = (
    *same("inputs_q", "inputs_k", "inputs_v", keyword=_BY_NAME),
    CallParameter("inputs_kv", "inputs_k", positional=False),
    _DROPOUT_RNG,
    _SOW,
)
_SELF: Final = (*same("inputs_q", keyword=_BY_NAME), _DROPOUT_RNG, _SOW)
_ANOTHER_EINSUM: Final = Lacking(None, "NNX has no setting for the products of attention.")


def _attention(name: str, call: tuple[CallParameter, ...]) -> Layer:
    return AttentionLayer(
        linen=f"flax.linen.{name}",
        nnx="nnx.MultiHeadAttention",
        settings=(
            "num_heads* dtype param_dtype qkv_features out_features broadcast_dropout"
            " dropout_rate deterministic precision kernel_init out_kernel_init bias_init"
            " out_bias_init use_bias attention_fn decode normalize_qk force_fp32_for_softmax"
            " qkv_dot_general out_dot_general qkv_dot_general_cls out_dot_general_cls"
            " qk_attn_weights_einsum_cls attn_weights_value_einsum_cls"
        ),
        calls={"__call__": call},
        movable=frozenset({"deterministic", "decode"}),
        replaced=names("num_heads attention_fn"),
        lacking={
            "force_fp32_for_softmax": Lacking(
                False, "NNX has no setting for the dtype of the softmax."
            ),
            "qk_attn_weights_einsum_cls": _ANOTHER_EINSUM,
            "attn_weights_value_einsum_cls": _ANOTHER_EINSUM,
            "qkv_dot_general_cls": _ANOTHER_EINSUM,
            "out_dot_general_cls": _ANOTHER_EINSUM,
            "qkv_dot_general": _SHARDED,
            "out_dot_general": _SHARDED,
        },
        explicit={"decode": "False"},
    )


ATTENTION: Final[tuple[Layer, ...]] = (
    _attention("MultiHeadDotProductAttention", _CROSS),
    _attention("MultiHeadAttention", _CROSS),
    _attention("SelfAttention", _SELF),
)

_OF_CELL: Final = {
    "__call__": same("carry", "inputs"),
    "initialize_carry": same("rng", "input_shape"),
}
_FUNCTIONS: Final = "gate_fn activation_fn"
_INITS: Final = "kernel_init recurrent_kernel_init bias_init"
_DTYPES: Final = "dtype param_dtype carry_init"
_BOTH: Final = ("kernel", "bias")


def _gates(text: str) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Return the layers of a cell by name; those with a star have no bias."""
    found = ((name.lstrip("*"), _BOTH[: 1 if name.startswith("*") else 2]) for name in names(text))
    return tuple((name, f"{name}_" if iskeyword(name) else name, parts) for name, parts in found)


CELLS: Final[tuple[Layer, ...]] = (
    *(
        # NNX's optimized cell has other parameters; LSTMCell computes the same.
        CellLayer(
            linen=f"flax.linen.{name}",
            nnx="nnx.LSTMCell",
            settings=f"features! {_FUNCTIONS} {_INITS} {_DTYPES}",
            calls=_OF_CELL,
            arrays=2,
            gates=_gates("*ii *if *ig *io hi hf hg ho"),
        )
        for name in ("LSTMCell", "OptimizedLSTMCell")
    ),
    CellLayer(
        linen="flax.linen.SimpleCell",
        nnx="nnx.SimpleCell",
        settings=f"features! activation_fn {_INITS} {_DTYPES} residual",
        calls=_OF_CELL,
        explicit={"dtype": "None"},
        gates=(("i", "dense_i", _BOTH), ("h", "dense_h", _BOTH[:1])),
    ),
    CellLayer(
        linen="flax.linen.GRUCell",
        nnx=GRU_CELL.name,
        settings=f"features! {_FUNCTIONS} {_INITS} {_DTYPES}",
        calls=_OF_CELL,
        gates=_gates("ir iz in *hr *hz hn"),
        definition=GRU_CELL,
    ),
    CellLayer(
        linen="flax.linen.MGUCell",
        nnx=MGU_CELL.name,
        settings=(
            f"features! {_FUNCTIONS} kernel_init recurrent_kernel_init forget_bias_init"
            f" activation_bias_init {_DTYPES} reset_gate"
        ),
        calls=_OF_CELL,
        gates=_gates("if in *hf hn"),
        definition=MGU_CELL,
    ),
    CellLayer(
        linen="flax.linen.ConvLSTMCell",
        nnx=CONV_LSTM_CELL.name,
        settings=f"features! kernel_size* strides padding use_bias {_DTYPES}",
        calls=_OF_CELL,
        arrays=2,
        gates=_gates("ih hh"),
        definition=CONV_LSTM_CELL,
    ),
)

_OF_TIME: Final = {
    "__call__": (
        *same(
            "inputs",
            keyword=names("initial_carry seq_lengths return_carry time_major reverse keep_order"),
        ),
        CallParameter("init_key", "rngs", positional=False, stream="carry"),
    )
}


def _no_lifting(default: object) -> Lacking:
    return Lacking(
        default, "NNX says by `state_axes` how the variables of the cell go through the steps."
    )


# The layer that `nn.WeightNorm` and `nn.SpectralNorm` wrap.
_WRAPPED: Final = ("{collection}/layer_instance", "layer_instance")

CONTAINERS: Final[tuple[Layer, ...]] = (
    OverTimeLayer(
        linen="flax.linen.RNN",
        nnx="nnx.RNN",
        settings=(
            "cell! time_major return_carry reverse keep_order unroll variable_axes"
            " variable_broadcast variable_carry split_rngs"
        ),
        calls=_OF_TIME,
        movable=frozenset({"time_major", "return_carry", "reverse", "keep_order"}),
        lacking={
            "variable_axes": _no_lifting({}),
            "variable_broadcast": _no_lifting("params"),
            "variable_carry": _no_lifting(False),
            "split_rngs": _no_lifting({"params": False}),
        },
        takes_rngs=False,
        fixed=(("{collection}/cell", "cell"),),
    ),
    OverTimeLayer(
        linen="flax.linen.Bidirectional",
        nnx="nnx.Bidirectional",
        settings="forward_rnn! backward_rnn! merge_fn time_major return_carry",
        calls=_OF_TIME,
        movable=frozenset({"time_major", "return_carry"}),
        takes_rngs=False,
        fixed=tuple((f"{{collection}}/{name}", name) for name in ("forward_rnn", "backward_rnn")),
    ),
    SequentialLayer(
        linen="flax.linen.Sequential",
        nnx="nnx.Sequential",
        settings="layers*",
        replaced=names("layers"),
        fixed=(("{collection}/layers_{i}", "layers.{i}"),),
        takes_rngs=False,
    ),
    Layer(
        linen="flax.linen.WeightNorm",
        nnx=WEIGHT_NORM.name,
        settings=(
            "layer_instance! epsilon dtype param_dtype use_scale scale_init feature_axes"
            " variable_filter"
        ),
        definition=WEIGHT_NORM,
        fixed=(_WRAPPED, ("params/{layer}/kernel/scale", "scales.kernel")),
    ),
    Layer(
        linen="flax.linen.SpectralNorm",
        nnx=SPECTRAL_NORM.name,
        settings=(
            "layer_instance! n_steps epsilon dtype param_dtype error_on_non_matrix collection_name"
        ),
        lacking={
            "collection_name": Lacking(
                "batch_stats", "its variables in NNX are always batch statistics."
            )
        },
        definition=SPECTRAL_NORM,
        fixed=(
            _WRAPPED,
            ("batch_stats/{layer}/kernel/u", "u.kernel"),
            ("batch_stats/{layer}/kernel/sigma", "sigma.kernel"),
        ),
    ),
)


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
        *(Layer(linen=name, nnx="", without=why) for name, why in NO_COUNTERPART.items()),
    )
}


_OF_OTHERS: Final[dict[str, Layer]] = {}


def add_layers(layers: Iterable[Layer]) -> None:
    """Let layers of another library be known, under names that Linen has not."""
    _OF_OTHERS.update({layer.linen: layer for layer in layers})


def find_layer(name: str) -> Layer | None:
    """Return what is known of a Linen class; None where it is no layer of the table.

    Args:
        name: Its qualified name, as code imports it: ``flax.linen.Dense``,
            ``flax.linen.linear.Dense``.
    """
    if name in _OF_OTHERS:
        return _OF_OTHERS[name]
    package, _, cls = name.rpartition(".")
    if package != "flax.linen" and not package.startswith("flax.linen."):
        return None
    return LAYERS.get(f"flax.linen.{cls}")
