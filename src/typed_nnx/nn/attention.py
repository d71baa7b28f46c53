"""``nnx.nn.attention``: attention, and the masks that limit it."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jax import lax

from typed_nnx._core.fields import data
from typed_nnx._core.modules import Module as Module
from typed_nnx._core.rngs import Rngs, RngStream
from typed_nnx._core.variable_types import Cache
from typed_nnx.errors import LayerArgumentError, LayerInputError, UnsetModeError
from typed_nnx.nn._dot_product_attention import check_rate
from typed_nnx.nn._dot_product_attention import combine_masks as combine_masks
from typed_nnx.nn._dot_product_attention import dot_product_attention as dot_product_attention
from typed_nnx.nn._dot_product_attention import (
    dot_product_attention_weights as dot_product_attention_weights,
)
from typed_nnx.nn._dot_product_attention import make_attention_mask as make_attention_mask
from typed_nnx.nn._dot_product_attention import make_causal_mask as make_causal_mask
from typed_nnx.nn._layers import (
    NO_METADATA,
    Array,
    DotGeneralT,
    Dtype,
    Metadata,
    PrecisionLike,
    PromoteDtypeFn,
    Shape,
    Sharding,
    as_tuple,
    bias_init,
    called_stream,
    check_rngs,
    described,
    first_set,
    kernel_init,
    size_held,
)
from typed_nnx.nn._layers import Initializer as Initializer
from typed_nnx.nn.dtypes import promote_dtype
from typed_nnx.nn.linear import LinearGeneral as LinearGeneral
from typed_nnx.nn.normalization import LayerNorm as LayerNorm


class MultiHeadAttention(Module):
    """Attention in several heads, each with its own projections of queries, keys and values.

    >>> layer = MultiHeadAttention(4, 8, decode=False, rngs=Rngs(0))
    >>> layer(jnp.ones((2, 5, 8)), is_causal=True).shape
    (2, 5, 8)

    To decode, create a cache and pass one token at a time; each attends to itself and to earlier
    ones, so the results are those of a causal pass over the whole sequence:

    >>> layer.init_cache((2, 5, 8))
    >>> layer(jnp.ones((2, 1, 8)), decode=True).shape
    (2, 1, 8)

    Args:
        num_heads: How many heads the queries have.
        in_features: Size of the last axis of the queries' inputs.
        qkv_features: Features of all heads of the queries together; None means `in_features`.
        out_features: Size of the last axis of the result; None means `in_features`.
        num_kv_heads: How many heads keys and values have, each for a group of query heads; it must
            divide `num_heads`. None means as many.
        in_kv_features: Size of the last axis of the inputs of keys and values; None means
            `in_features`.
        dtype: The dtype to compute in; None means what inputs and parameters promote to.
        param_dtype: The dtype of the parameters.
        broadcast_dropout: Whether all batches and heads drop the same weights.
        dropout_rate: The share of weights to drop.
        deterministic: Whether to drop none. `train` and `eval` set it; None means that each call
            says it, where `dropout_rate` is not 0.
        precision: Precision of the products, as of `jax.lax.dot_general`.
        kernel_init: Initializer of the kernels.
        out_kernel_init: Initializer of the kernel of `out`; None means `kernel_init`.
        bias_init: Initializer of the biases.
        out_bias_init: Initializer of the bias of `out`; None means `bias_init`.
        use_bias: Whether the projections have biases.
        attention_fn: What computes the attention, in place of `dot_product_attention`.
        decode: Whether to decode with the cache; None means that each call says it.
        normalize_qk: Whether to normalize queries and keys over the features of a head.
        qkv_promote_dtype: What brings inputs and parameters of the projections to one dtype.
        out_promote_dtype: The same for `out`.
        ln_promote_dtype: The same for the normalization.
        qkv_dot_general: What computes the products of the projections.
        out_dot_general: What computes the product of `out`.
        qkv_dot_general_cls: A function that makes `qkv_dot_general` anew for each call.
        out_dot_general_cls: A function that makes `out_dot_general` anew for each call.
        rngs: Gives two keys of the stream ``params`` for each of query, key, value and out (one
            without biases), and two for the two scales of `normalize_qk`.
        keep_rngs: Whether to keep a fork of the stream ``dropout``, where `dropout_rate` is not 0;
            otherwise each call gives its own.
        kernel_metadata: Metadata of the kernels of query, key and value.
        out_kernel_metadata: Metadata of the kernel of `out`.
        bias_metadata: Metadata of the biases of query, key and value.
        out_bias_metadata: Metadata of the bias of `out`.
        query_ln_scale_metadata: Metadata of the scale that normalizes queries.
        key_ln_scale_metadata: Metadata of the scale that normalizes keys.

    Raises:
        LayerArgumentError: The heads do not divide the features, or each other.
        RngsTypeError: `rngs` is not an `Rngs`.

    Source: Vaswani et al., "Attention Is All You Need", 2017; grouped queries: Ainslie et al.,
    "GQA", 2023; normalized queries and keys: Dehghani et al., "Scaling Vision Transformers to 22
    Billion Parameters", 2023.
    """

    query: LinearGeneral
    key: LinearGeneral
    value: LinearGeneral
    query_ln: LayerNorm | None
    key_ln: LayerNorm | None
    out: LinearGeneral
    rngs: RngStream | None
    cached_key: Cache[jax.Array] | None
    cached_value: Cache[jax.Array] | None
    cache_index: Cache[jax.Array] | None

    def __init__(
        self,
        num_heads: int,
        in_features: int,
        qkv_features: int | None = None,
        out_features: int | None = None,
        num_kv_heads: int | None = None,
        in_kv_features: int | None = None,
        *,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        broadcast_dropout: bool = True,
        dropout_rate: float = 0.0,
        deterministic: bool | None = None,
        precision: PrecisionLike = None,
        kernel_init: Initializer = kernel_init,
        out_kernel_init: Initializer | None = None,
        bias_init: Initializer = bias_init,
        out_bias_init: Initializer | None = None,
        use_bias: bool = True,
        attention_fn: Callable[..., Array] = dot_product_attention,
        decode: bool | None = None,
        normalize_qk: bool = False,
        qkv_promote_dtype: PromoteDtypeFn = promote_dtype,
        out_promote_dtype: PromoteDtypeFn = promote_dtype,
        ln_promote_dtype: PromoteDtypeFn = promote_dtype,
        qkv_dot_general: DotGeneralT | None = None,
        out_dot_general: DotGeneralT | None = None,
        qkv_dot_general_cls: Callable[[], DotGeneralT] | None = None,
        out_dot_general_cls: Callable[[], DotGeneralT] | None = None,
        rngs: Rngs,
        keep_rngs: bool = True,
        kernel_metadata: Metadata = NO_METADATA,
        out_kernel_metadata: Metadata = NO_METADATA,
        bias_metadata: Metadata = NO_METADATA,
        out_bias_metadata: Metadata = NO_METADATA,
        query_ln_scale_metadata: Metadata = NO_METADATA,
        key_ln_scale_metadata: Metadata = NO_METADATA,
    ) -> None:
        check_rngs(self, rngs)
        self.num_heads: int = num_heads
        self.in_features: int = in_features
        self.qkv_features: int = in_features if qkv_features is None else qkv_features
        self.out_features: int = in_features if out_features is None else out_features
        self.in_kv_features: int = in_features if in_kv_features is None else in_kv_features
        self.num_kv_heads: int = num_heads if num_kv_heads is None else num_kv_heads
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.broadcast_dropout: bool = broadcast_dropout
        self.dropout_rate: float = dropout_rate
        self.deterministic: bool | None = deterministic
        self.precision: PrecisionLike = precision
        self.use_bias: bool = use_bias
        self.attention_fn: Callable[..., Array] = attention_fn
        self.decode: bool | None = decode
        self.normalize_qk: bool = normalize_qk
        self.qkv_promote_dtype: PromoteDtypeFn = qkv_promote_dtype
        self.out_promote_dtype: PromoteDtypeFn = out_promote_dtype
        self.ln_promote_dtype: PromoteDtypeFn = ln_promote_dtype
        self.qkv_dot_general: DotGeneralT | None = qkv_dot_general
        self.out_dot_general: DotGeneralT | None = out_dot_general
        self.qkv_dot_general_cls: Callable[[], DotGeneralT] | None = qkv_dot_general_cls
        self.out_dot_general_cls: Callable[[], DotGeneralT] | None = out_dot_general_cls
        _check_heads(self)
        self.head_dim: int = self.qkv_features // num_heads
        projection = functools.partial(
            LinearGeneral,
            use_bias=use_bias,
            dtype=dtype,
            param_dtype=param_dtype,
            precision=precision,
            rngs=rngs,
        )
        of_inputs = functools.partial(
            projection,
            kernel_init=kernel_init,
            bias_init=bias_init,
            promote_dtype=qkv_promote_dtype,
            dot_general=qkv_dot_general,
            dot_general_cls=qkv_dot_general_cls,
            kernel_metadata=kernel_metadata,
            bias_metadata=bias_metadata,
        )
        shared = (self.num_kv_heads, self.head_dim)
        self.query = of_inputs(in_features, (num_heads, self.head_dim))
        self.key = of_inputs(self.in_kv_features, shared)
        self.value = of_inputs(self.in_kv_features, shared)
        self.query_ln = self._normalization(rngs, query_ln_scale_metadata)
        self.key_ln = self._normalization(rngs, key_ln_scale_metadata)
        self.out = projection(
            (num_heads, self.head_dim),
            self.out_features,
            axis=(-2, -1),
            kernel_init=kernel_init if out_kernel_init is None else out_kernel_init,
            bias_init=bias_init if out_bias_init is None else out_bias_init,
            promote_dtype=out_promote_dtype,
            dot_general=out_dot_general,
            dot_general_cls=out_dot_general_cls,
            kernel_metadata=out_kernel_metadata,
            bias_metadata=out_bias_metadata,
        )
        self.rngs = rngs.dropout.fork() if keep_rngs and dropout_rate > 0.0 else data(None)
        self.cached_key = data(None)
        self.cached_value = data(None)
        self.cache_index = data(None)

    def __call__(
        self,
        inputs_q: Array,
        inputs_k: Array | None = None,
        inputs_v: Array | None = None,
        *,
        mask: Array | None = None,
        deterministic: bool | None = None,
        rngs: Rngs | RngStream | None = None,
        sow_weights: bool = False,
        decode: bool | None = None,
        is_causal: bool = False,
        out_sharding: Sharding = None,
        qkv_sharding: Sharding = None,
    ) -> Array:
        """Return what each token of `inputs_q` takes from those of `inputs_k` and `inputs_v`.

        Args:
            inputs_q: Any dtype, [*batch, queries, in_features].
            inputs_k: Any dtype, [*batch, keys, in_kv_features]; None means `inputs_q`.
            inputs_v: Any dtype, [*batch, keys, in_kv_features]; None means `inputs_k`.
            mask: Zero where a query must not look at a key; broadcasts to
                [*batch, num_heads, queries, keys]. While decoding, `keys` is the length of the
                cache.
            deterministic: Overrides what the constructor or `train` and `eval` set.
            rngs: Streams, or a stream, in place of the layer's own.
            sow_weights: Whether to record the weights in the `Intermediate` ``attention_weights``.
            decode: Overrides what the constructor or a view set.
            is_causal: Whether a query takes nothing of the keys that come after it; while
                decoding there are none.
            out_sharding: Layout of the result over an explicit mesh.
            qkv_sharding: Layout of queries, keys and values over an explicit mesh.

        Returns:
            ``[*batch, queries, out_features]``.

        Raises:
            LayerInputError: Inputs or mask do not fit the layer, each other or the cache.
            UnsetModeError: It is not known whether to decode or whether to drop weights, or there
                is no cache to decode with or no stream to drop with.
            RngsTypeError: `rngs` is none of these.
        """
        decoding = _is_decoding(self, decode)
        dropping = _is_dropping(self, deterministic)
        inputs_k, inputs_v = _checked_inputs(self, inputs_q, inputs_k, inputs_v)
        query = self.query(inputs_q, out_sharding=qkv_sharding)
        key = self.key(inputs_k, out_sharding=qkv_sharding)
        value = self.value(inputs_v, out_sharding=qkv_sharding)
        if self.query_ln is not None and self.key_ln is not None:
            query, key = self.query_ln(query), self.key_ln(key)
        if decoding:
            key, value, decoded = _decode_token(self, key, value)
            mask = combine_masks(mask, decoded)
        attended = self.attention_fn(
            query,
            key,
            value,
            mask=mask,
            dropout_rng=_dropout_key(self, rngs) if dropping else None,
            dropout_rate=self.dropout_rate,
            broadcast_dropout=self.broadcast_dropout,
            deterministic=not dropping,
            dtype=self.dtype,
            precision=self.precision,
            module=self if sow_weights else None,
            # What was decoded lies before the token: the mask of the cache is the causal one.
            is_causal=is_causal and not decoding,
        )
        return self.out(attended, out_sharding=out_sharding)

    def init_cache(self, input_shape: Shape, dtype: Dtype = jnp.float32) -> None:
        """Make an empty cache for keys and values: `cached_key`, `cached_value`, `cache_index`.

        Args:
            input_shape: ``(*batch, max_length, in_features)``.
            dtype: The dtype of keys and values: that which the layer computes in.

        Raises:
            LayerArgumentError: `input_shape` is no sequence.
        """
        given: object = input_shape
        if not isinstance(given, Sequence):
            raise LayerArgumentError(
                f"{type(self).__name__}.init_cache",
                "input_shape",
                repr(given),
                "the shape of the inputs, (*batch, max_length, in_features)",
                "layer.init_cache(inputs.shape)",
            )
        shape = (*given[:-1], self.num_kv_heads, self.head_dim)
        self.cached_key = Cache(jnp.zeros(shape, dtype))
        self.cached_value = Cache(jnp.zeros(shape, dtype))
        self.cache_index = Cache(jnp.array(0, dtype=jnp.int32))

    def set_view(
        self,
        deterministic: bool | None = None,
        decode: bool | None = None,
        batch_size: int | Shape | None = None,
        max_length: int | None = None,
    ) -> None:
        """Take what `nnx.view` sets.

        Args:
            deterministic: if True, no attention weights are dropped.
            decode: if True, calls decode one token with the cache.
            batch_size: batch axes of a new, empty cache; needs `max_length`.
            max_length: how many tokens the new cache holds; needs `batch_size`.
        """
        if deterministic is not None:
            self.deterministic = deterministic
        if decode is not None:
            self.decode = decode
        if batch_size is not None and max_length is not None:
            dtype = self.param_dtype if self.dtype is None else self.dtype
            self.init_cache((*as_tuple(batch_size), max_length, self.in_features), dtype)

    def _normalization(self, rngs: Rngs, metadata: Metadata) -> LayerNorm | None:
        if not self.normalize_qk:
            return data(None)
        return LayerNorm(
            self.head_dim,
            use_bias=False,
            dtype=self.dtype,
            param_dtype=self.param_dtype,
            promote_dtype=self.ln_promote_dtype,
            rngs=rngs,
            scale_metadata=metadata,
        )


def _is_decoding(layer: MultiHeadAttention, decode: bool | None) -> bool:
    return first_set(
        decode,
        layer.decode,
        layer=layer,
        argument="decode",
        why="whether to decode with the cache is not known",
        fixes=(
            f"nnx.{type(layer).__name__}(..., decode=False)",
            "model.set_attributes(decode=False)",
            "layer(x, decode=False)",
        ),
    )


def _is_dropping(layer: MultiHeadAttention, deterministic: bool | None) -> bool:
    return layer.dropout_rate > 0.0 and not first_set(
        deterministic,
        layer.deterministic,
        layer=layer,
        argument="deterministic",
        why=f"whether to drop weights, at dropout_rate={layer.dropout_rate}, is not known",
        fixes=(
            "model.train() or model.eval()",
            f"nnx.{type(layer).__name__}(..., deterministic=False)",
            "layer(x, deterministic=True)",
        ),
    )


def _dropout_key(layer: MultiHeadAttention, rngs: Rngs | RngStream | None) -> jax.Array:
    stream = called_stream(layer, rngs, layer.rngs, "dropout")
    if stream is None:
        raise UnsetModeError(
            type(layer).__name__,
            "rngs",
            "deterministic is False, and which weights to drop is random",
            (
                f"nnx.{type(layer).__name__}(..., keep_rngs=True, rngs=nnx.Rngs(0))",
                "layer(x, rngs=rngs)",
                "model.eval()",
            ),
        )
    return stream()


def _check_heads(layer: MultiHeadAttention) -> None:
    """Refuse heads that do not divide the features, or each other, and a rate that is none."""
    heads, shared, features = layer.num_heads, layer.num_kv_heads, layer.qkv_features
    name = type(layer).__name__
    if heads < 1 or features % heads:
        raise LayerArgumentError(
            name,
            "num_heads",
            repr(heads),
            f"a number that divides qkv_features={features}",
            f"nnx.{name}(num_heads=4, in_features=64, ...)",
        )
    if shared < 1 or heads % shared:
        raise LayerArgumentError(
            name,
            "num_kv_heads",
            repr(shared),
            f"a number that divides num_heads={heads}",
            f"nnx.{name}(num_heads=8, in_features=64, num_kv_heads=2, ...)",
        )
    check_rate(name, layer.dropout_rate)


def _checked_inputs(
    layer: MultiHeadAttention, inputs_q: Array, inputs_k: Array | None, inputs_v: Array | None
) -> tuple[Array, Array]:
    """Return the inputs of keys and values, which are those of the queries if they are None."""
    name = type(layer).__name__
    if inputs_k is None and inputs_v is not None:
        raise LayerInputError(
            name,
            "inputs_k",
            f"None while inputs_v is {described(inputs_v)}",
            "the inputs of the keys with those of the values",
            "layer(inputs_q, inputs_k), where inputs_k are those of the values too",
        )
    keys = inputs_q if inputs_k is None else inputs_k
    values = keys if inputs_v is None else inputs_v
    _check(layer, "inputs_q", inputs_q, "in_features", layer.query)
    _check(layer, "inputs_k", keys, "in_kv_features", layer.key)
    _check(layer, "inputs_v", values, "in_kv_features", layer.value)
    return keys, values


def _sizes_of_inputs(layer: object) -> tuple[int, ...] | None:
    """Return the sizes of the axes that a LinearGeneral contracts; None where another computes."""
    if not isinstance(layer, LinearGeneral) or type(layer).__call__ is not LinearGeneral.__call__:
        return None
    if layer.dot_general_cls is not None or layer.dot_general not in (None, lax.dot_general):
        return None
    first = len(layer.batch_axis)
    return layer.kernel.shape[first : first + len(layer.axis)]


def _check(
    layer: MultiHeadAttention, argument: str, inputs: Array, name: str, projection: Module
) -> None:
    """Refuse inputs that the projection cannot take; one that is not our own checks them itself."""
    features: int = getattr(layer, name)
    sizes = _sizes_of_inputs(projection)
    if sizes is not None:
        (features,) = sizes
    elif jnp.ndim(inputs) >= 2:
        return
    if jnp.ndim(inputs) < 2 or inputs.shape[-1] != features:
        raise LayerInputError(
            type(layer).__name__,
            argument,
            described(inputs),
            f"shape (..., tokens, {features}), since {size_held(layer, name, features, 'kernel')}",
            f"give inputs of that shape, or another {name} to nnx.{type(layer).__name__}",
        )


def _decode_token(
    layer: MultiHeadAttention, key: Array, value: Array
) -> tuple[Array, Array, Array]:
    """Write key and value of one token into the cache; return its keys and values, and their mask.

    Key and value are ``[*batch, 1, key_heads, features]``, the mask bool ``[*batch, 1, 1, max_length]``.
    Past its end the cache keeps all but its last entry, which each token then replaces.
    """
    name, cached_key, cached_value = type(layer).__name__, layer.cached_key, layer.cached_value
    if cached_key is None or cached_value is None or layer.cache_index is None:
        raise UnsetModeError(
            name,
            "cached_key",
            "decoding needs a cache for keys and values",
            (
                "layer.init_cache((*batch, max_length, in_features))",
                "nnx.view(model, decode=True, batch_size=1, max_length=128)",
                "layer(x, decode=False)",
            ),
        )
    keys, values, index = cached_key[...], cached_value[...], layer.cache_index[...]
    _check_cache(name, keys, key)
    axis = key.ndim - 3
    cached_key[...] = lax.dynamic_update_slice_in_dim(keys, key, index, axis)
    cached_value[...] = lax.dynamic_update_slice_in_dim(values, value, index, axis)
    layer.cache_index[...] = index + 1
    length = keys.shape[axis]
    mask = jnp.broadcast_to(
        jnp.arange(length, dtype=index.dtype) <= index, (*keys.shape[:axis], 1, 1, length)
    )
    return cached_key[...], cached_value[...], mask


def _check_cache(layer: str, keys: Array, key: Array) -> None:
    *batch, length, heads, features = keys.shape
    if key.shape != (*batch, 1, heads, features):
        raise LayerInputError(
            layer,
            "inputs_k",
            f"turned into keys {described(key)}",
            f"keys of shape {(*batch, 1, heads, features)}: one token for a cache of "
            f"{math.prod(batch)} sequences of {length} tokens",
            "give the tokens one by one, layer(x[..., i : i + 1, :]), "
            "with the batch axes that init_cache was given",
        )
    if key.dtype != keys.dtype:
        raise LayerInputError(
            layer,
            "inputs_k",
            f"turned into keys {described(key)}",
            f"keys of the dtype of the cache, {keys.dtype}",
            f"layer.init_cache(shape, dtype=jnp.{key.dtype})",
        )
