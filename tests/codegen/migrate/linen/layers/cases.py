"""Calls of Linen layers with many settings, which the tests migrate and run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A layer and its call, as they are written.

    Attributes:
        layer: The constructor.
        call: The arguments of the call.
        method: The method that is called.
        one_batch_axis: Whether the inputs of a convolution have one batch axis.
        tolerance: How far the numbers may be apart.
    """

    layer: str
    call: str
    method: str = "__call__"
    one_batch_axis: bool = True
    tolerance: float = 2e-6


DENSE = [
    Case("nn.Dense(4)", "rows"),
    Case("nn.Dense(features=4, use_bias=False)", "sequence"),
    Case("nn.Dense(4, True, jnp.bfloat16)", "rows"),
    Case("nn.Dense(4, param_dtype=jnp.bfloat16)", "rows"),
    Case("nn.Dense(4, dtype=jnp.float32)", "half"),
    Case("nn.Dense(4, precision='highest')", "rows"),
    Case("nn.Dense(4, kernel_init=nn.initializers.ones, bias_init=nn.initializers.ones)", "rows"),
    Case("nn.Dense(4, dot_general=None, dot_general_cls=None)", "rows"),
    Case("nn.Dense(4, promote_dtype=own_promotion)", "rows"),
    Case("nn.Dense(4, name='head')", "rows"),
    Case("nn.DenseGeneral(4)", "rows"),
    Case("nn.DenseGeneral((2, 3))", "sequence"),
    Case("nn.DenseGeneral([2, 3], use_bias=False)", "sequence"),
    Case("nn.DenseGeneral(4, axis=(-2, -1))", "sequence"),
    Case("nn.DenseGeneral(4, axis=(-1, -2))", "sequence"),
    Case("nn.DenseGeneral(4, axis=1)", "sequence"),
    Case("nn.DenseGeneral((4, 2), axis=-2)", "sequence"),
    Case("nn.DenseGeneral(4, axis=(1, -1))", "image", one_batch_axis=False),
    Case("nn.DenseGeneral(4, dtype=jnp.bfloat16)", "rows"),
    Case("nn.Einsum((6, 2, 3), '...a,abc->...bc')", "sequence"),
    Case("nn.Einsum((6, 2, 3), 'xa, abc -> xcb')", "rows"),
    Case("nn.Einsum((6, 2), '...a,ab->...b', use_bias=False)", "sequence"),
    Case("nn.Einsum((6, 5, 2), 'bsa,asc->bsc')", "sequence"),
    Case("nn.Einsum(shape=(6, 2))", "rows, 'xa,ab->xb'"),
    Case("nn.Einsum((6, 5), '...sa,as->...')", "sequence"),
    Case("nn.Embed(7, 4)", "numbers"),
    Case("nn.Embed(num_embeddings=7, features=4)", "numbers[0]"),
    Case("nn.Embed(1, 4)", "numbers"),
    Case("nn.Embed(7, 6)", "sequence", "attend"),
    Case("nn.Embed(7, 6, dtype=jnp.bfloat16)", "numbers"),
    Case("nn.Embed(7, 6, jnp.bfloat16, jnp.bfloat16)", "sequence", "attend"),
    Case("nn.Embed(7, 6, dtype=jnp.float32, param_dtype=jnp.bfloat16)", "half", "attend"),
    Case("nn.Embed(7, 6, embedding_init=nn.initializers.ones)", "numbers"),
]

CONVOLUTIONS = [
    Case(f"nn.Conv(4, {settings})", call, one_batch_axis=one)
    for settings, call, one in (
        ("(3, 3)", "image", True),
        ("[3, 3]", "image", True),
        ("3", "sequence", True),
        ("kernel_size=(3,)", "sequence", True),
        ("(3, 3), 2", "image", True),
        ("(3, 3), strides=(2, 1)", "image", True),
        ("(3, 3), strides=None, input_dilation=None, kernel_dilation=None", "image", True),
        ("(3, 3), padding='VALID'", "image", True),
        ("(4, 2), strides=3, padding='VALID'", "image", True),
        ("(3, 3), padding='CIRCULAR'", "image", True),
        ("(4, 4), strides=2, padding='CIRCULAR'", "image", True),
        ("(3, 3), padding='REFLECT', kernel_dilation=2", "image", True),
        ("3, padding='CAUSAL'", "sequence", True),
        ("(3,), strides=2, kernel_dilation=2, padding='CAUSAL'", "sequence", True),
        ("(3, 3), padding=1", "image", True),
        ("(3, 3), padding=(1, 0)", "image", True),
        ("(3, 3), padding=((1, 2), (0, 1)), strides=2", "image", True),
        ("(3, 3), padding=[(1, 2), 1]", "image", True),
        ("(3, 3), kernel_dilation=(2, 1), padding='VALID'", "image", True),
        ("(3, 3), input_dilation=2, padding=0", "image", True),
        ("(3, 3), input_dilation=(2, 1), padding=1, strides=2", "image", True),
        ("(3, 3), input_dilation=2, padding=(2, 1)", "image", True),
        ("(3, 3), use_bias=False", "image", True),
        ("(3, 3), feature_group_count=2", "wide_image", True),
        ("(3, 3), mask=own_mask", "image", True),
        ("(3, 3), dtype=jnp.bfloat16", "image", True),
        ("(3, 3)", "image[0]", False),
        ("(3, 3)", "image[None]", False),
        ("(3,)", "image", False),
        ("(1, 1), kernel_init=nn.initializers.ones", "image", True),
    )
] + [
    Case(f"nn.ConvTranspose(4, {settings})", call, one_batch_axis=one)
    for settings, call, one in (
        ("(3, 3)", "image", True),
        ("3", "sequence", True),
        ("(3, 3), (2, 2)", "image", True),
        ("(3, 3), strides=(2, 1), padding='VALID'", "image", True),
        ("(2, 2), strides=(3, 3), padding='VALID'", "image", True),
        ("(4, 4), strides=(2, 2), padding='CIRCULAR', transpose_kernel=True", "image", True),
        ("(3, 3), strides=(2, 2), padding=((1, 2), (0, 1))", "image", True),
        ("(3, 3), strides=(2, 2), padding=1", "image", True),
        ("(3, 3), kernel_dilation=(2, 2), padding='VALID'", "image", True),
        ("(3, 3), strides=(2, 2), kernel_dilation=(2, 2)", "image", True),
        ("(3, 3), use_bias=False, transpose_kernel=True", "image", True),
        ("(3, 3), strides=(2, 2)", "image[0]", False),
        ("(3, 3), mask=own_mask", "image", True),
        ("(3, 3), dtype=jnp.bfloat16, preferred_element_type=jnp.float32", "image", True),
    )
]

NORMS = (
    [
        Case(f"nn.{name}({settings})", call)
        for name in ("LayerNorm", "RMSNorm")
        for settings, call in (
            ("", "rows"),
            ("1e-3", "sequence"),
            ("epsilon=1e-5, use_scale=False", "sequence"),
            ("dtype=jnp.bfloat16", "rows"),
            ("dtype=jnp.bfloat16", "half"),
            ("dtype=jnp.float16, param_dtype=jnp.float16", "rows"),
            ("dtype=jnp.float32", "half"),
            ("dtype=None", "half"),
            ("param_dtype=jnp.bfloat16", "half"),
            ("param_dtype=jnp.bfloat16", "rows"),
            ("use_scale=False", "half"),
            ("use_fast_variance=False", "rows"),
            ("reduction_axes=(-2, -1), feature_axes=(-2, -1)", "sequence"),
            ("reduction_axes=-2, feature_axes=-1", "sequence"),
            ("reduction_axes=(1, 2, 3), feature_axes=(-1,)", "image"),
            ("feature_axes=(-1, -2)", "image"),
            ("force_float32_reductions=True", "rows"),
            ("", "rows, mask=rows > -1"),
            ("", "rows, mask=(rows > -1).astype(jnp.float32)"),
            ("", "rows, mask=None"),
            ("", "whole_numbers"),
        )
    ]
    + [
        Case("nn.LayerNorm(use_bias=False)", "sequence"),
        Case("nn.LayerNorm(use_bias=False, use_scale=False)", "half"),
        Case("nn.LayerNorm(scale_init=nn.initializers.constant(2.0))", "rows"),
        Case("nn.GroupNorm(2)", "rows"),
        Case("nn.GroupNorm(num_groups=3)", "image"),
        Case("nn.GroupNorm(num_groups=None, group_size=3)", "sequence"),
        Case("nn.GroupNorm(2, epsilon=1e-3, use_bias=False)", "sequence"),
        Case("nn.GroupNorm(2, dtype=jnp.bfloat16)", "sequence"),
        Case("nn.GroupNorm(2, dtype=jnp.bfloat16, param_dtype=jnp.bfloat16)", "half"),
        Case("nn.GroupNorm(2)", "sequence, mask=sequence > -1"),
        Case("nn.GroupNorm(2, use_fast_variance=False)", "sequence"),
        Case("nn.GroupNorm(2, use_scale=False, use_bias=False)", "half"),
        Case("nn.InstanceNorm()", "image"),
        Case("nn.InstanceNorm(epsilon=1e-3, use_scale=False)", "sequence"),
        Case("nn.InstanceNorm(dtype=jnp.bfloat16)", "image"),
        Case("nn.InstanceNorm(feature_axes=(-2, -1))", "image"),
        Case("nn.InstanceNorm(feature_axes=1)", "image"),
        Case("nn.InstanceNorm()", "image, mask=image > -1"),
    ]
    + [
        Case(f"nn.BatchNorm({settings})", call)
        for settings, call in (
            ("use_running_average=False", "rows"),
            ("use_running_average=True", "rows"),
            ("", "rows, use_running_average=False"),
            ("", "image, True"),
            ("", "image, False"),
            ("False, momentum=0.9, epsilon=1e-3", "image"),
            ("False, axis=1", "image"),
            ("False, axis=-2", "sequence"),
            ("False, axis=(-1,)", "sequence"),
            ("False, dtype=jnp.bfloat16", "rows"),
            ("True, dtype=jnp.bfloat16", "rows"),
            ("True, dtype=jnp.bfloat16", "half"),
            ("False, dtype=jnp.float32", "half"),
            ("False", "half"),
            ("True", "half"),
            ("True, use_bias=False, use_scale=False", "half"),
            ("False, use_bias=False, use_scale=False", "half"),
            ("False, use_bias=False", "half"),
            ("True, param_dtype=jnp.bfloat16", "half"),
            ("False, param_dtype=jnp.bfloat16, use_scale=False", "half"),
            ("False, use_fast_variance=False", "rows"),
            ("False", "rows, mask=rows > -1"),
            ("False", "rows, mask=(rows > -1).astype(jnp.int32)"),
            ("False, axis_name=None, axis_index_groups=None", "rows"),
        )
    ]
)

ELEMENTWISE = [
    Case("nn.Dropout(0.5)", "rows, deterministic=True"),
    Case("nn.Dropout(0.5)", "rows, True"),
    Case("nn.Dropout(0.5, deterministic=True)", "rows"),
    Case("nn.Dropout(rate=0.0)", "rows, deterministic=False"),
    Case("nn.Dropout(1.0)", "rows, deterministic=False"),
    Case("nn.Dropout(0.5)", "rows, deterministic=False, rng=key"),
    Case("nn.Dropout(0.5)", "rows, False, key"),
    Case("nn.Dropout(0.3, (0,))", "sequence, deterministic=False, rng=key"),
    Case("nn.Dropout(0.3, broadcast_dims=(-1,), rng_collection='params')", "rows, False, key"),
    Case("nn.PReLU()", "rows"),
    Case("nn.PReLU(jnp.bfloat16, 0.1)", "rows"),
    Case("nn.PReLU(negative_slope_init=0.2)", "half"),
]

_HEADS = "nn.MultiHeadDotProductAttention"
ATTENTION = [
    Case(f"{_HEADS}({settings})", call)
    for settings, call in (
        ("2", "sequence"),
        ("num_heads=3", "sequence, sequence"),
        ("2, qkv_features=8", "sequence, memory"),
        ("2, qkv_features=8, out_features=5", "sequence, memory, memory"),
        ("2", "sequence, memory, memory[:, ::-1]"),
        ("2", "sequence, inputs_kv=memory"),
        ("2", "sequence, inputs_k=memory"),
        ("2", "sequence, mask=attention_mask"),
        ("2", "sequence, mask=attention_mask.astype(jnp.float32)"),
        ("2", "sequence, None, None, mask=attention_mask"),
        ("2", "sequence, mask=attention_mask[:, :, :, :1]"),
        ("2", "sequence[0]"),
        ("2", "sequence[None]"),
        ("2, dropout_rate=0.5, deterministic=True", "sequence"),
        ("2, dropout_rate=0.5", "sequence, deterministic=True"),
        ("2, dropout_rate=0.5", "sequence, mask=attention_mask, deterministic=True"),
        ("2, normalize_qk=True", "sequence"),
        ("2, use_bias=False", "sequence"),
        ("2, use_bias=False, normalize_qk=True, decode=False", "sequence"),
        ("2, precision='highest', broadcast_dropout=False", "sequence"),
        ("2, attention_fn=own_attention", "sequence"),
        ("2, attention_fn=nn.dot_product_attention", "sequence, mask=attention_mask"),
        ("2, attention_fn=nn.dot_product_attention", "sequence, sow_weights=True"),
        ("2, qkv_dot_general=None, qkv_dot_general_cls=None", "sequence"),
        ("2, force_fp32_for_softmax=False", "sequence"),
        ("2", "sequence, sow_weights=True"),
        ("2, kernel_init=nn.initializers.ones, out_kernel_init=nn.initializers.zeros", "sequence"),
        ("2, param_dtype=jnp.bfloat16", "sequence"),
    )
] + [
    Case(f"{_HEADS}(2, dtype=jnp.bfloat16)", "sequence, mask=attention_mask"),
    Case(f"{_HEADS}(2, dtype=jnp.bfloat16, normalize_qk=True)", "sequence"),
    Case(f"{_HEADS}(2, dtype=jnp.float16, attention_fn=nn.dot_product_attention)", "sequence"),
    Case(
        f"{_HEADS}(2, param_dtype=jnp.bfloat16, dropout_rate=0.1, deterministic=True)", "half[None]"
    ),
    Case("nn.MultiHeadAttention(2)", "sequence, mask=attention_mask"),
    Case("nn.SelfAttention(2)", "sequence"),
    Case("nn.SelfAttention(2, qkv_features=4)", "sequence, attention_mask"),
    Case("nn.SelfAttention(2, dropout_rate=0.2)", "sequence, None, True"),
]

CELLS = [
    Case(f"nn.{name}({settings})", call)
    for name, carry in (
        ("LSTMCell", "pair"),
        ("OptimizedLSTMCell", "pair"),
        ("GRUCell", "carry"),
        ("MGUCell", "carry"),
        ("SimpleCell", "carry"),
    )
    for settings, call in (
        ("4", f"{carry}, rows"),
        ("features=4, activation_fn=nn.relu", f"{carry}, inputs=rows"),
        ("4, dtype=jnp.bfloat16", f"{carry}, rows"),
        (
            "4, param_dtype=jnp.bfloat16, recurrent_kernel_init=nn.initializers.ones",
            f"{carry}, rows",
        ),
        ("4, kernel_init=nn.initializers.ones", f"{carry}, rows"),
        ("4, carry_init=nn.initializers.zeros", f"{carry}, rows"),
        ("4", f"{carry}, half"),
    )
] + [
    Case("nn.LSTMCell(4, gate_fn=nn.hard_sigmoid, bias_init=nn.initializers.ones)", "pair, rows"),
    Case("nn.GRUCell(4, gate_fn=nn.hard_sigmoid, bias_init=nn.initializers.ones)", "carry, rows"),
    Case("nn.MGUCell(4, gate_fn=nn.hard_sigmoid, reset_gate=False)", "carry, rows"),
    Case(
        "nn.MGUCell(4, forget_bias_init=nn.initializers.zeros, "
        "activation_bias_init=nn.initializers.ones)",
        "carry, rows",
    ),
    Case("nn.SimpleCell(4, residual=True)", "carry, rows"),
    Case("nn.ConvLSTMCell(4, (3, 3))", "picture_pair, image"),
    Case("nn.ConvLSTMCell(features=4, kernel_size=(3, 3), use_bias=False)", "picture_pair, image"),
    Case("nn.ConvLSTMCell(4, [3], padding='CIRCULAR')", "line_pair, sequence"),
]

CONTAINERS = (
    [
        Case(f"nn.RNN(nn.{cell}{settings})", call)
        for cell in (
            "LSTMCell(4)",
            "OptimizedLSTMCell(4)",
            "GRUCell(4)",
            "SimpleCell(4)",
            "MGUCell(4)",
        )
        for settings, call in (
            ("", "sequence"),
            (", return_carry=True", "sequence"),
            (", time_major=True, reverse=True, keep_order=True", "sequence"),
        )
    ]
    + [
        Case(f"nn.RNN(nn.LSTMCell(4){settings})", call)
        for settings, call in (
            ("", "sequence, seq_lengths=lengths, return_carry=True"),
            ("", "sequence, seq_lengths=lengths, reverse=True, keep_order=True"),
            ("", "sequence, initial_carry=pair"),
            ("", "sequence, init_key=key"),
            ("", "sequence, init_key=None, return_carry=False"),
            (", unroll=2, variable_broadcast='params', split_rngs={'params': False}", "sequence"),
            (", variable_axes={}, variable_carry=False", "sequence"),
            ("", "sequence[None]"),
        )
    ]
    + [
        Case("nn.RNN(nn.ConvLSTMCell(4, (3,)))", "image"),
        Case("nn.RNN(nn.GRUCell(4, carry_init=nn.initializers.ones))", "sequence"),
        Case("nn.Bidirectional(nn.RNN(nn.LSTMCell(4)), nn.RNN(nn.GRUCell(3)))", "sequence"),
        Case(
            "nn.Bidirectional(nn.RNN(nn.LSTMCell(4)), nn.RNN(nn.LSTMCell(4)), "
            "merge_fn=jnp.add, return_carry=True)",
            "sequence, seq_lengths=lengths",
        ),
        Case("nn.Sequential([nn.Dense(4), nn.relu, nn.Dense(3)])", "rows"),
        Case("nn.Sequential([nn.Conv(4, (3, 3), 2), nn.GroupNorm(2), nn.relu])", "image"),
        Case("nn.Sequential([nn.BatchNorm(use_running_average=False), nn.Dense(2)])", "rows"),
    ]
)

WRAPPERS = [
    Case(f"nn.WeightNorm(nn.{inner}{settings})", call)
    for inner, settings, call in (
        ("Dense(4)", "", "rows"),
        ("Dense(4)", ", use_scale=False", "rows"),
        ("Dense(4)", ", epsilon=1e-3, feature_axes=None", "rows"),
        ("Dense(4)", ", feature_axes=0, scale_init=nn.initializers.constant(2.0)", "rows"),
        ("Dense(4)", ", feature_axes=(0, 1)", "rows"),
        ("Dense(4)", ", dtype=jnp.bfloat16", "rows"),
        ("Dense(4)", ", use_scale=False, variable_filter=None", "rows"),
        ("Conv(4, (3, 3))", ", variable_filter=('kernel',)", "image"),
        ("BatchNorm(True)", "", "rows"),
    )
] + [
    Case(f"nn.SpectralNorm(nn.{inner}{settings})", call)
    for inner, settings, call in (
        ("Dense(4)", "", "rows, update_stats=True"),
        ("Dense(4)", ", n_steps=3", "rows, update_stats=False"),
        ("Dense(4)", ", n_steps=0", "rows, update_stats=True"),
        ("Dense(4)", ", epsilon=1e-3, collection_name='batch_stats'", "rows, update_stats=True"),
        ("Dense(4)", ", dtype=jnp.bfloat16", "rows, update_stats=True"),
        ("Conv(4, (3, 3), use_bias=False)", "", "image, update_stats=True"),
        ("BatchNorm()", "", "rows, use_running_average=True, update_stats=True"),
    )
]
