"""What goes wrong with layers."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

import typed_nnx as nnx
from tests.errors.case import Cases
from typed_nnx import errors
from typed_nnx.nn.attention import dot_product_attention_weights

NO_RNGS: Any = 0
ROWS = jnp.ones((2, 5))


WRONG: Any = (1, 2, 3)


def conv(**options: Any) -> Any:
    """Return a Conv over two spatial axes."""
    return nnx.Conv(2, 4, (3, 3), **options, rngs=nnx.Rngs(0))


def linear() -> nnx.Linear:
    """Return a Linear to wrap."""
    return nnx.Linear(2, 4, rngs=nnx.Rngs(0))


X = jnp.ones((2, 3, 4))
Q = jnp.ones((2, 3, 2, 4))


def attention(**options: Any) -> Any:
    """Return a layer of two heads."""
    return nnx.MultiHeadAttention(2, 4, **{"decode": False, "rngs": nnx.Rngs(0), **options})


def cached(*shape: int, dtype: Any = jnp.float32) -> Any:
    """Return a layer that decodes with a cache."""
    layer = attention(decode=True)
    layer.init_cache(shape, dtype)
    return layer


def rnn(**options: Any) -> Any:
    """Return a layer that runs a plain cell."""
    return nnx.RNN(nnx.SimpleCell(4, 5, rngs=nnx.Rngs(0)), **options)


CASES: Cases = {
    errors.LayerInputError: {
        "inputs with other features than the layer has": (
            lambda: nnx.Linear(3, 4, rngs=nnx.Rngs(0))(ROWS),
            ("Linear: ", "`inputs` is float32[2,5]", "last axis of size in_features=3"),
            "nnx.Linear(5, 4, ...)",
        ),
        "floats as the numbers of vectors": (
            lambda: nnx.Embed(3, 4, rngs=nnx.Rngs(0))(ROWS),
            ("Embed: ", "`inputs` is float32[2,5]", "expected integers"),
            "inputs.astype(jnp.int32)",
        ),
        "images with another number of features": (
            lambda: conv()(jnp.ones((1, 8, 8, 3))),
            ("Conv: `inputs` is float32[1,8,8,3]", "in_features=2", "kernel_size=(3, 3)"),
            "nnx.Conv(3, ...",
        ),
        "a batch with another number of features": (
            lambda: nnx.BatchNorm(2, rngs=nnx.Rngs(0))(jnp.ones((3, 5))),
            ("BatchNorm: `x` is float32[3,5]", "expected num_features=2 elements along axis 1"),
            "nnx.BatchNorm(5, ...)",
        ),
        "a mask of numbers for a batch": (
            lambda: nnx.BatchNorm(2, rngs=nnx.Rngs(0))(jnp.ones((3, 2)), mask=jnp.ones((3, 2))),
            ("BatchNorm: `mask` is float32[3,2]", "expected booleans", "(3, 2)"),
            "mask.astype(bool)",
        ),
        "a mask of numbers": (
            lambda: nnx.LayerNorm(2, rngs=nnx.Rngs(0))(jnp.ones((3, 2)), mask=jnp.ones((3, 2))),
            ("LayerNorm: `mask` is float32[3,2]", "expected booleans", "(3, 2)"),
            "mask.astype(bool)",
        ),
        "the batch as a feature": (
            lambda: nnx.InstanceNorm(2, rngs=nnx.Rngs(0))(jnp.ones((2,))),
            ("InstanceNorm: `x` is float32[2]", "a batch as its first axis"),
            "x[None]",
        ),
        "inputs of another size": (
            lambda: attention()(jnp.ones((2, 3, 5))),
            ("MultiHeadAttention: `inputs_q` is float32[2,3,5]", "since in_features=4"),
            "give inputs of that shape, or another in_features to nnx.MultiHeadAttention",
        ),
        "values without keys": (
            lambda: attention()(X, inputs_v=X),
            ("MultiHeadAttention: `inputs_k` is None while inputs_v is float32[2,3,4]",),
            "layer(inputs_q, inputs_k)",
        ),
        "several tokens at once": (
            lambda: cached(2, 3, 4)(X),
            ("`inputs_k` is turned into keys float32[2,3,2,2]", "one token for a cache of 2 seq"),
            "give the tokens one by one",
        ),
        "a cache of another dtype": (
            lambda: cached(2, 3, 4, dtype=jnp.bfloat16)(X[:, :1]),
            ("turned into keys float32[2,1,2,2]", "the dtype of the cache, bfloat16"),
            "layer.init_cache(shape, dtype=jnp.float32)",
        ),
        "a query without heads": (
            lambda: nnx.dot_product_attention(Q[0, 0], Q[0, 0], Q[0, 0]),
            ("dot_product_attention: `query` is float32[2,4]", "(..., queries, heads, features)"),
            "query.reshape(*query.shape[:-1], heads, -1)",
        ),
        "keys of another batch": (
            lambda: nnx.dot_product_attention(Q, Q[:1], Q[:1]),
            ("`key` is float32[1,3,2,4]", "shape (2, keys, heads, 4)", "query float32[2,3,2,4]"),
            "give a key with the batch axes and features of the query",
        ),
        "more heads of keys than of queries": (
            lambda: nnx.dot_product_attention(Q[:, :, :1], Q, Q),
            ("`key` is float32[2,3,2,4]", "heads of which the 1 of query"),
            "give as many key heads as query heads",
        ),
        "values that are not those of the keys": (
            lambda: nnx.dot_product_attention(Q, Q, Q[:, :2]),
            ("`value` is float32[2,2,2,4]", "the batch, keys and heads of the key"),
            "compute keys and values from the same inputs",
        ),
        "a bias of another shape": (
            lambda: dot_product_attention_weights(Q, Q, bias=jnp.ones((4, 3, 3))),
            ("`bias` is float32[4,3,3]", "broadcasts to (2, 2, 3, 3)", "heads, queries, keys"),
            "bias[:, None] if the axis of heads is missing",
        ),
        "a mask of another shape": (
            lambda: nnx.dot_product_attention(Q, Q, Q, mask=jnp.ones((2, 3, 3)).repeat(2, 0)),
            ("`mask` is float32[4,3,3]", "broadcasts to (2, 2, 3, 3)", "heads, queries, keys"),
            "mask[:, None] if the axis of heads is missing",
        ),
        "masks that do not combine": (
            lambda: nnx.combine_masks(jnp.ones((2, 3)), jnp.ones((3,))),
            ("combine_masks: `masks` is float32[2,3], float32[3]", "masks of the same rank"),
            "mask[None] for each missing axis",
        ),
        "a causal mask of nothing": (
            lambda: nnx.make_causal_mask(jnp.ones(())),
            ("make_causal_mask: `x` is float32[]", "an axis for the tokens"),
            "x[None]",
        ),
        "a carry that is no pair": (
            lambda: nnx.LSTMCell(4, 5, rngs=nnx.Rngs(0))(X[0], X[0]),  # type: ignore[arg-type]  # it is the error
            ("LSTMCell: `carry` is float32[3,4]", "a pair (memory, output)", "hidden_features=5"),
            "cell.initialize_carry(inputs.shape, rngs)",
        ),
        "inputs of a cell of another size": (
            lambda: nnx.GRUCell(4, 5, rngs=nnx.Rngs(0))(jnp.ones((5,)), jnp.ones((3,))),
            ("GRUCell: `inputs` is float32[3]", "size in_features=4"),
            "nnx.GRUCell(3, 5, ...), or inputs of shape (..., 4)",
        ),
        "no sequence": (
            lambda: rnn()(X[0, 0]),
            ("RNN: `inputs` is float32[4]", "an axis of time and 1 of features"),
            "inputs of shape (*batch, time, features)",
        ),
        "lengths of another batch": (
            lambda: rnn()(X, seq_lengths=jnp.array([1, 2, 3])),
            ("RNN: `seq_lengths` is int32[3]", "integers of shape (2,)"),
            "seq_lengths=mask.sum(axis=time_axis)",
        ),
        "one carry for two directions": (
            lambda: nnx.Bidirectional(rnn(), rnn())(X, initial_carry=X),  # type: ignore[call-overload]  # it is the error
            ("Bidirectional: `initial_carry` is float32[2,3,4]", "a pair"),
            "initial_carry=(forward_carry, backward_carry)",
        ),
    },
    errors.LayerArgumentError: {
        "an equation without a result": (
            lambda: nnx.Einsum("ab,bc", (3, 4), rngs=nnx.Rngs(0)),
            ("Einsum: ", "argument `einsum_str` is 'ab,bc'", "two operands"),
            'einsum_str="bta,ahd->bthd"',
        ),
        "one size for two axes": (
            lambda: nnx.LinearGeneral((3, 4), 5, rngs=nnx.Rngs(0)),
            (
                "LinearGeneral: ",
                "argument `axis` is (-1,)",
                "one axis for each of in_features=(3, 4)",
            ),
            "axis=(-2, -1)",
        ),
        "integers to compute in": (
            lambda: nnx.Linear(5, 4, dtype=jnp.int32, rngs=nnx.Rngs(0))(ROWS),
            ("promote_dtype: ", "argument `dtype` is int32", "expected a float or complex dtype"),
            "dtype=jnp.float32",
        ),
        "strides for more axes than the kernel has": (
            lambda: conv(strides=WRONG),
            (
                "Conv: argument `strides` is (1, 2, 3)",
                "expected an int, None",
                "kernel_size=(3, 3)",
            ),
            "strides=(2, 2)",
        ),
        "a padding that nobody knows": (
            lambda: conv(padding="reflect"),
            ("Conv: argument `padding` is 'reflect'", "expected one of 'SAME'", "'CIRCULAR'"),
            "padding='REFLECT'",
        ),
        "a causal padding over two axes": (
            lambda: conv(padding="CAUSAL"),
            ("Conv: argument `padding` is 'CAUSAL'", "the 2 spatial axes of kernel_size=(3, 3)"),
            "jnp.pad",
        ),
        "a named padding of dilated inputs": (
            lambda: conv(input_dilation=2),
            ("Conv: argument `padding` is 'SAME'", "expected numbers where input_dilation=(2, 2)"),
            "padding=((1, 1), (1, 1)), or nnx.ConvTranspose",
        ),
        "groups that do not divide the features": (
            lambda: conv(feature_group_count=3),
            ("Conv: argument `feature_group_count` is 3", "divides both in_features=2"),
            "feature_group_count=2",
        ),
        "a mask of another shape than the kernel": (
            lambda: conv(mask=jnp.ones((3, 3))),
            ("Conv: argument `mask` is float32[3,3]", "the shape of the kernel, (3, 3, 2, 4)"),
            "mask=jnp.broadcast_to(mask, (3, 3, 2, 4))",
        ),
        "a window of pooling as one number": (
            lambda: nnx.max_pool(jnp.ones((4, 1)), WRONG[0]),
            ("max_pool: argument `window_shape` is 1", "expected a size for each spatial axis"),
            "window_shape=(1,)",
        ),
        "more groups than features": (
            lambda: nnx.GroupNorm(6, rngs=nnx.Rngs(0)),
            ("GroupNorm: argument `num_groups` is 32", "divides num_features=6"),
            "nnx.GroupNorm(6, num_groups=6, ...)",
        ),
        "lengths along an axis that the kernel lacks": (
            lambda: nnx.WeightNorm(linear(), feature_axes=2, rngs=nnx.Rngs(0)),
            ("WeightNorm: argument `feature_axes` is 2", "float32[2,4] at ('kernel',)"),
            "feature_axes=-1",
        ),
        "heads that do not divide the features": (
            lambda: nnx.MultiHeadAttention(3, 4, rngs=nnx.Rngs(0)),
            ("MultiHeadAttention: argument `num_heads` is 3", "divides qkv_features=4"),
            "nnx.MultiHeadAttention(num_heads=4, in_features=64, ...)",
        ),
        "groups that do not divide the heads": (
            lambda: attention(num_kv_heads=3),
            ("MultiHeadAttention: argument `num_kv_heads` is 3", "divides num_heads=2"),
            "nnx.MultiHeadAttention(num_heads=8, in_features=64, num_kv_heads=2, ...)",
        ),
        "a rate that drops everything": (
            lambda: attention(dropout_rate=1.0),
            ("MultiHeadAttention: argument `dropout_rate` is 1.0", "at least 0 and less than 1"),
            "dropout_rate=0.1",
        ),
        "a cache that is no shape": (
            lambda: attention().init_cache(3),
            ("MultiHeadAttention.init_cache: argument `input_shape` is 3", "max_length"),
            "layer.init_cache(inputs.shape)",
        ),
        "weights to drop and no key": (
            lambda: nnx.dot_product_attention(Q, Q, Q, dropout_rate=0.5),
            ("argument `dropout_rng` is None", "since dropout_rate is 0.5"),
            "dot_product_attention_weights(..., dropout_rng=rngs.dropout())",
        ),
        "no cell": (
            lambda: nnx.RNN(nnx.Linear(4, 5, rngs=nnx.Rngs(0))),  # type: ignore[call-overload]  # it is the error
            ("RNN: argument `cell` is a Linear", "a recurrent cell"),
            "nnx.RNN(nnx.LSTMCell(...))",
        ),
    },
    errors.RngsTypeError: {
        "a seed in place of streams": (
            lambda: nnx.Linear(3, 4, rngs=NO_RNGS),
            ("Linear: ", "argument `rngs` is 0 (int)", "expected an nnx.Rngs"),
            "Linear(..., rngs=nnx.Rngs(0))",
        ),
        "an attention layer without streams": (
            lambda: attention(rngs=5),
            ("MultiHeadAttention: argument `rngs` is 5 (int)", "expected an nnx.Rngs"),
            "MultiHeadAttention(..., rngs=nnx.Rngs(0))",
        ),
        "a key in place of a stream": (
            lambda: attention(dropout_rate=0.5)(X, deterministic=False, rngs=5),
            ("MultiHeadAttention: argument `rngs` is 5 (int)", "a stream of one or None"),
            "MultiHeadAttention(..., rngs=nnx.Rngs(0))",
        ),
        "a recurrent layer with a key": (
            lambda: rnn(rngs=jax.random.key(0)),
            ("RNN: argument `rngs` is", "an nnx.Rngs, a stream of one, True or False"),
            "RNN(..., rngs=nnx.Rngs(0))",
        ),
    },
    errors.UnsetModeError: {
        "dropping without streams": (
            lambda: nnx.Dropout(0.5)(ROWS),
            ("Dropout: ", "`rngs` is not set", "`deterministic` is False"),
            "nnx.Dropout(..., rngs=nnx.Rngs(dropout=0))",
        ),
        "dropping without a mode": (
            lambda: nnx.Dropout(0.5, deterministic=None)(ROWS),
            ("Dropout: ", "`deterministic` is not set", "not known"),
            "model.train() or model.eval()",
        ),
        "a batch norm that was not told its mode": (
            lambda: nnx.BatchNorm(2, use_running_average=None, rngs=nnx.Rngs(0))(jnp.ones((3, 2))),
            ("BatchNorm: `use_running_average` is not set", "is not known"),
            "model.train() or model.eval()",
        ),
        "it is not known whether to decode": (
            lambda: attention(decode=None)(X),
            ("MultiHeadAttention: `decode` is not set", "whether to decode with the cache"),
            "nnx.MultiHeadAttention(..., decode=False)",
        ),
        "it is not known whether to drop": (
            lambda: attention(dropout_rate=0.5)(X),
            ("MultiHeadAttention: `deterministic` is not set", "dropout_rate=0.5"),
            "model.train() or model.eval()",
        ),
        "no stream to drop with": (
            lambda: attention(dropout_rate=0.5, keep_rngs=False)(X, deterministic=False),
            ("MultiHeadAttention: `rngs` is not set", "which weights to drop is random"),
            "nnx.MultiHeadAttention(..., keep_rngs=True, rngs=nnx.Rngs(0))",
        ),
        "decoding without a cache": (
            lambda: attention()(X[:, :1], decode=True),
            ("MultiHeadAttention: `cached_key` is not set", "decoding needs a cache"),
            "layer.init_cache((*batch, max_length, in_features))",
        ),
        "a first carry without a stream": (
            lambda: rnn(rngs=False)(X),
            ("SimpleCell.initialize_carry: `rngs` is not set", "take a key"),
            "cell.initialize_carry(shape, rngs=nnx.Rngs(0))",
        ),
    },
    errors.AbstractMethodError: {
        "a cell that defines nothing": (
            lambda: nnx.RNNCellBase().num_feature_axes,
            ("RNNCellBase: does not define the property `num_feature_axes`", "`initialize_carry`"),
            "define the property `num_feature_axes` in RNNCellBase",
        )
    },
}
