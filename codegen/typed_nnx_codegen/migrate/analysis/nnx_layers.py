"""The layers of NNX: their attributes and what a call gives."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.analysis.nnx_class import NnxClass

_MODULE: Final = ("Module",)
_GIVES_ARRAY: Final = {"__call__": "array"}

# What all layers have that compute with a precision.
_DTYPES: Final = {
    "dtype": "unknown",
    "param_dtype": "unknown",
    "promote_dtype": "callable",
}
_DOT: Final = {
    **_DTYPES,
    "precision": "unknown",
    "preferred_element_type": "unknown",
}
# Before flax 0.12 layers kept the initialisers that they were made with.
_KERNEL_AND_BIAS: Final = {
    "kernel": "Param",
    "bias": "Param | None",
    "use_bias": "bool",
    "kernel_init": "callable",
    "bias_init": "callable",
}
_SCALE: Final = {"scale": "Param | None", "use_scale": "bool", "scale_init": "callable"}
_SCALE_AND_BIAS: Final = {
    **_SCALE,
    "bias": "Param | None",
    "use_bias": "bool",
    "bias_init": "callable",
}
_IN_AND_OUT: Final = {"in_features": "int", "out_features": "int"}
_REDUCTION: Final = {
    **_DTYPES,
    "epsilon": "float",
    "axis_name": "str | None",
    "axis_index_groups": "unknown",
    "use_fast_variance": "bool",
}
_AXES: Final = {"reduction_axes": "unknown", "feature_axes": "unknown"}
_CONV: Final = {
    **_KERNEL_AND_BIAS,
    **_IN_AND_OUT,
    **_DOT,
    "kernel_shape": "tuple[int, ...]",
    "kernel_size": "tuple[int, ...]",
    "strides": "unknown",
    "padding": "unknown",
    "kernel_dilation": "unknown",
    "mask": "unknown",
}
_CELL: Final = {
    **_DTYPES,
    "in_features": "int",
    "hidden_features": "int",
    "activation_fn": "callable",
    "rngs": "RngStream | None",
    "carry_init": "callable | None",
    "kernel_init": "callable",
    "recurrent_kernel_init": "callable",
    "bias_init": "callable",
}
_DENSE_CELL: Final = {**_CELL, "dense_i": "Linear", "dense_h": "Linear"}
_LSTM_CARRY: Final = "tuple[array, array]"
_CARRY_METHODS: Final = {
    "__call__": "tuple[array, array]",
    "initialize_carry": "array",
}
_LSTM_METHODS: Final = {
    "__call__": f"tuple[{_LSTM_CARRY}, array]",
    "initialize_carry": _LSTM_CARRY,
}

LAYERS: Final = {
    "Linear": NnxClass(
        _MODULE,
        {**_KERNEL_AND_BIAS, **_IN_AND_OUT, **_DOT, "dot_general": "callable"},
        _GIVES_ARRAY,
    ),
    "LinearGeneral": NnxClass(
        _MODULE,
        {
            **_KERNEL_AND_BIAS,
            **_DOT,
            "in_features": "tuple[int, ...]",
            "out_features": "tuple[int, ...]",
            "axis": "tuple[int, ...]",
            "batch_axis": "unknown",
            "dot_general": "callable | None",
            "dot_general_cls": "unknown",
        },
        _GIVES_ARRAY,
    ),
    "Einsum": NnxClass(
        _MODULE,
        {
            **_DOT,
            "kernel": "Param",
            "bias": "Param | None",
            "einsum_str": "str | None",
            "kernel_shape": "tuple[int, ...]",
            "bias_shape": "tuple[int, ...] | None",
            "einsum_op": "callable",
            "kernel_init": "callable",
            "bias_init": "callable",
        },
        _GIVES_ARRAY,
    ),
    "Embed": NnxClass(
        _MODULE,
        {
            **_DTYPES,
            "embedding": "Param",
            "num_embeddings": "int",
            "features": "int",
            "embedding_init": "callable",
        },
        {**_GIVES_ARRAY, "attend": "array"},
    ),
    "Conv": NnxClass(
        _MODULE,
        {
            **_CONV,
            "input_dilation": "unknown",
            "feature_group_count": "int",
            "conv_general_dilated": "callable",
        },
        _GIVES_ARRAY,
    ),
    "ConvTranspose": NnxClass(_MODULE, {**_CONV, "transpose_kernel": "bool"}, _GIVES_ARRAY),
    "BatchNorm": NnxClass(
        _MODULE,
        {
            **_SCALE_AND_BIAS,
            **_REDUCTION,
            "mean": "BatchStat",
            "var": "BatchStat",
            "num_features": "int",
            "use_running_average": "bool",
            "axis": "int",
            "momentum": "float",
        },
        {**_GIVES_ARRAY, "set_view": "None"},
    ),
    "LayerNorm": NnxClass(
        _MODULE, {**_SCALE_AND_BIAS, **_REDUCTION, **_AXES, "num_features": "int"}, _GIVES_ARRAY
    ),
    "RMSNorm": NnxClass(
        _MODULE, {**_SCALE, **_REDUCTION, **_AXES, "num_features": "int"}, _GIVES_ARRAY
    ),
    "GroupNorm": NnxClass(
        _MODULE,
        {
            **_SCALE_AND_BIAS,
            **_REDUCTION,
            "feature_axis": "int",
            "num_groups": "int",
            "group_size": "int",
            "reduction_axes": "unknown",
        },
        _GIVES_ARRAY,
    ),
    "InstanceNorm": NnxClass(
        _MODULE,
        {
            **_SCALE_AND_BIAS,
            **_REDUCTION,
            "num_features": "int",
            "feature_axes": "unknown",
        },
        _GIVES_ARRAY,
    ),
    "SpectralNorm": NnxClass(
        _MODULE,
        {
            "layer_instance": "Module",
            "n_steps": "int",
            "epsilon": "float",
            "dtype": "unknown",
            "param_dtype": "unknown",
            "error_on_non_matrix": "bool",
            "use_running_average": "bool",
            "batch_stats": "dict[unknown, BatchStat]",
        },
        {"__call__": "unknown"},
    ),
    "WeightNorm": NnxClass(
        _MODULE,
        {
            **_DTYPES,
            "layer_instance": "Module",
            "feature_axes": "unknown",
            "use_scale": "bool",
            "scale_init": "callable",
            "epsilon": "float",
            "variable_filter": "unknown",
            # Arrays, not Variables: flax and typed_nnx agree.
            "scales": "dict[unknown, array]",
        },
        {"__call__": "unknown"},
    ),
    "Dropout": NnxClass(
        _MODULE,
        {
            "rate": "float",
            "broadcast_dims": "unknown",
            "deterministic": "bool",
            "rng_collection": "str",
            # Older versions kept the Rngs; now it is a stream.
            "rngs": "RngStream | Rngs | None",
        },
        {**_GIVES_ARRAY, "set_view": "None"},
    ),
    "MultiHeadAttention": NnxClass(
        _MODULE,
        {
            "num_heads": "int",
            "in_features": "int",
            "qkv_features": "int",
            "out_features": "int",
            "in_kv_features": "int",
            "num_kv_heads": "int",
            "dtype": "unknown",
            "param_dtype": "unknown",
            "broadcast_dropout": "bool",
            "dropout_rate": "float",
            "deterministic": "bool | None",
            "precision": "unknown",
            "use_bias": "bool",
            "attention_fn": "callable",
            "decode": "bool | None",
            "normalize_qk": "bool",
            "qkv_promote_dtype": "callable",
            "out_promote_dtype": "callable",
            "ln_promote_dtype": "callable",
            "qkv_dot_general": "callable | None",
            "out_dot_general": "callable | None",
            "qkv_dot_general_cls": "unknown",
            "out_dot_general_cls": "unknown",
            "head_dim": "int",
            "query": "LinearGeneral",
            "key": "LinearGeneral",
            # A layer; `attention.value` is no value of a Variable.
            "value": "LinearGeneral",
            "query_ln": "LayerNorm | None",
            "key_ln": "LayerNorm | None",
            "out": "LinearGeneral",
            "rngs": "RngStream | Rngs | None",
            "cached_key": "Cache | None",
            "cached_value": "Cache | None",
            "cache_index": "Cache | None",
            "kernel_init": "callable",
            "bias_init": "callable",
        },
        {**_GIVES_ARRAY, "init_cache": "None", "set_view": "None"},
    ),
    "PReLU": NnxClass(_MODULE, {**_DTYPES, "negative_slope": "Param"}, _GIVES_ARRAY),
    "LoRA": NnxClass(
        _MODULE,
        {
            **_IN_AND_OUT,
            **_DTYPES,
            "lora_param_type": "type[Variable]",
            "base_module": "Module | None",
            # Of the class `lora_param_type`.
            "lora_a": "Variable",
            "lora_b": "Variable",
        },
        _GIVES_ARRAY,
    ),
    "LoRALinear": NnxClass(("Linear",), {"lora": "LoRA"}, _GIVES_ARRAY),
    "RNNCellBase": NnxClass(
        _MODULE,
        {"num_feature_axes": "int"},
        {"__call__": "tuple[unknown, array]", "initialize_carry": "unknown"},
    ),
    "LSTMCell": NnxClass(
        ("RNNCellBase",),
        {
            **_CELL,
            "gate_fn": "callable",
            **dict.fromkeys(("ii", "if_", "ig", "io", "hi", "hf", "hg", "ho"), "Linear"),
        },
        _LSTM_METHODS,
    ),
    "OptimizedLSTMCell": NnxClass(
        ("RNNCellBase",), {**_DENSE_CELL, "gate_fn": "callable"}, _LSTM_METHODS
    ),
    "GRUCell": NnxClass(("RNNCellBase",), {**_DENSE_CELL, "gate_fn": "callable"}, _CARRY_METHODS),
    "SimpleCell": NnxClass(("RNNCellBase",), {**_DENSE_CELL, "residual": "bool"}, _CARRY_METHODS),
    "RNN": NnxClass(
        _MODULE,
        {
            "cell": "RNNCellBase",
            "time_major": "bool",
            "return_carry": "bool",
            "reverse": "bool",
            "keep_order": "bool",
            "unroll": "int",
            "rngs": "RngStream | Rngs | None",
            "state_axes": "StateAxes",
            "broadcast_rngs": "unknown",
        },
        {"__call__": "unknown"},
    ),
    "Bidirectional": NnxClass(
        _MODULE,
        {
            "forward_rnn": "RNN",
            "backward_rnn": "RNN",
            "merge_fn": "callable",
            "time_major": "bool",
            "return_carry": "bool",
            "rngs": "RngStream | Rngs | None",
        },
        {"__call__": "unknown"},
    ),
}
"""The layers by name."""
