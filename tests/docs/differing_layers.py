"""Rows of docs/differences.md about layers: a program for each, and what it comes to."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.docs.differing import Case

X = jnp.ones((2, 5))
QUERY = jnp.ones((1, 4, 2, 8))


def linear(nnx: Any) -> Any:
    return nnx.Linear(3, 4, rngs=nnx.Rngs(0))


def cell(nnx: Any) -> Any:
    return nnx.SimpleCell(2, 3, rngs=nnx.Rngs(0))


def conv(nnx: Any, **options: Any) -> Any:
    nnx.Conv(3, 4, (3, 3), rngs=nnx.Rngs(0), **options)
    return "made"


def made(layer: object) -> str:
    del layer
    return "made"


def group_norm(
    nnx: Any, shape: tuple[int, ...] = (2, 3, 4), mask: Any = None, **options: Any
) -> Any:
    x = jax.random.normal(jax.random.key(0), shape)
    layer = nnx.GroupNorm(4, num_groups=2, rngs=nnx.Rngs(0), **options)
    return np.asarray(x, np.float64), layer(x, mask=mask)


def follows_the_formula(nnx: Any) -> bool:
    x, found = group_norm(nnx, reduction_axes=(-1,))
    groups = x.reshape(2, 3, 2, 2)
    centred = groups - groups.mean(-1, keepdims=True)
    expected = centred / np.sqrt(groups.var(-1, keepdims=True) + 1e-6)
    return bool(np.allclose(found, expected.reshape(x.shape), atol=1e-4))


def weight_norm(nnx: Any) -> Any:
    normal = nnx.initializers.normal()
    layer = nnx.WeightNorm(linear(nnx), scale_init=normal, rngs=nnx.Rngs(0))
    return layer(jnp.ones((1, 3))).shape


def decoding_view(nnx: Any) -> Any:
    layer = nnx.MultiHeadAttention(2, 4, rngs=nnx.Rngs(0))
    view = nnx.view(layer, decode=True, batch_size=1, max_length=4)
    return view(jnp.ones((1, 1, 4))).shape, layer.cached_key is None


def half_a_linear(nnx: Any) -> Any:
    layer = nnx.LinearGeneral(4, (6, 2), rngs=nnx.Rngs(0))
    layer.kernel.set_value(jnp.ones((4, 3, 2)))
    layer.bias.set_value(jnp.ones((3, 2)))
    return layer(jnp.ones((1, 4))).shape


def bare_batch_norm(nnx: Any) -> Any:
    layer = nnx.BatchNorm(3, use_scale=False, use_bias=False, rngs=nnx.Rngs(0))
    return layer(jnp.ones((2, 1))).shape


def narrow_memory(nnx: Any) -> Any:
    layer = nnx.LSTMCell(2, 3, rngs=nnx.Rngs(0))
    return layer((jnp.ones((4, 1)), jnp.ones((4, 3))), jnp.ones((4, 2)))[1].shape


INPUTS = "inputs of another size or dtype than the parameters of a layer take"
SLICES = (
    "a kernel and a bias of another size, as a `shard_map` gives them to `LinearGeneral`, `Einsum` "
    "and attention"
)
BROADCAST = (
    "a feature that would broadcast: in `BatchNorm` against its averages, in a memory of `LSTMCell`"
)
CONV = "arguments of `Conv` that do not fit"
ACCEPTED = "a rate of `Dropout` above 1; something else than a cell for `RNN`"
POOLING = "lists as window and strides of pooling; several batch axes with padding in numbers"

CASES = [
    Case(INPUTS, lambda nnx: linear(nnx)(X), TypeError, "LayerInputError"),
    Case(
        INPUTS,
        lambda nnx: nnx.BatchNorm(3, rngs=nnx.Rngs(0))(X),
        TypeError,
        "LayerInputError",
    ),
    Case(
        INPUTS,
        lambda nnx: nnx.Dropout(0.5, rngs=nnx.Rngs(0))(X.astype(int)),
        TypeError,
        "LayerInputError",
    ),
    Case(
        INPUTS,
        lambda nnx: nnx.Embed(3, 4, rngs=nnx.Rngs(0))(X),
        ValueError,
        "LayerInputError",
    ),
    Case(SLICES, half_a_linear, TypeError, (1, 3, 2)),
    Case(BROADCAST, bare_batch_norm, (2, 1), "LayerInputError"),
    Case(BROADCAST, narrow_memory, (4, 3), "LayerInputError"),
    Case(CONV, lambda nnx: conv(nnx, strides=(1, 2, 3)), "made", "LayerArgumentError"),
    Case(CONV, lambda nnx: conv(nnx, padding="MIRROR"), "made", "LayerArgumentError"),
    Case(CONV, lambda nnx: conv(nnx, feature_group_count=2), "made", "LayerArgumentError"),
    Case(CONV, lambda nnx: conv(nnx, mask=jnp.ones(1)), "made", "LayerArgumentError"),
    Case(ACCEPTED, lambda nnx: made(nnx.Dropout(1.5)), "made", "LayerArgumentError"),
    Case(ACCEPTED, lambda nnx: made(nnx.RNN(linear(nnx))), "made", "LayerArgumentError"),
    Case(
        "`dropout_rate=1.0` in `dot_product_attention`",
        lambda nnx: str(
            nnx.dot_product_attention(
                QUERY, QUERY, QUERY, dropout_rate=1.0, dropout_rng=jax.random.key(0)
            ).sum()
        ),
        "nan",
        "LayerArgumentError",
    ),
    Case(
        "`seq_lengths` of another size than the batch in `RNN`",
        lambda nnx: nnx.RNN(cell(nnx))(jnp.ones((2, 5, 2)), seq_lengths=jnp.arange(3) + 1).shape,
        (2, 5, 3),
        "LayerInputError",
    ),
    Case(
        "`dot_product_attention` with values of another size than keys",
        lambda nnx: nnx.dot_product_attention(QUERY, QUERY, QUERY[..., :5]).shape,
        ValueError,
        (1, 4, 2, 5),
    ),
    Case(
        "`nnx.view` of attention with `decode`, `batch_size` and `max_length`",
        decoding_view,
        ValueError,
        ((1, 1, 4), True),
    ),
    Case(
        "`GroupNorm` with a `reduction_axes` that keeps a spatial axis",
        follows_the_formula,
        False,
        True,
    ),
    Case(
        "`GroupNorm` with a `reduction_axes` without the last axis",
        lambda nnx: group_norm(nnx, reduction_axes=(1,))[1].shape,
        (2, 3, 4),
        "LayerArgumentError",
    ),
    Case(
        "`GroupNorm` with a mask that is the same for all features, [..., 1]",
        lambda nnx: group_norm(nnx, mask=jnp.ones((2, 3, 1), bool))[1].shape,
        TypeError,
        (2, 3, 4),
    ),
    Case("`WeightNorm` with a random `scale_init`", weight_norm, TypeError, (1, 4)),
    Case(
        POOLING,
        lambda nnx: nnx.avg_pool(jnp.ones((1, 4, 4, 1)), [2, 2], strides=[2, 2]).shape,
        TypeError,
        (1, 2, 2, 1),
    ),
    Case(
        POOLING,
        lambda nnx: nnx.max_pool(jnp.ones((3, 2, 4, 4, 1)), (2, 2), padding=((1, 1), (1, 1))).shape,
        ValueError,
        (3, 2, 5, 5, 1),
    ),
]
