"""Attention functions and the masks for them."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import NONE, Array, Shape, Unknown, Value
from typed_nnx_codegen.migrate.linen.shapes.arguments import Arguments, Rule
from typed_nnx_codegen.migrate.linen.shapes.axes import inserted, removed
from typed_nnx_codegen.migrate.linen.shapes.broadcasting import broadcast
from typed_nnx_codegen.migrate.linen.shapes.operands import is_none, prefixed, shape_of
from typed_nnx_codegen.migrate.linen.sizes.dims import as_dim


def _attended(call: Arguments) -> Value:
    """Return the shape of the query with the width of the value."""
    if not call.is_none(None, "return_residual"):
        return Unknown("attention with residuals")
    query, value = call.shape(0, "query"), call.shape(2, "value")
    rows = removed(query, (-1,))
    width = value.axis(-1)
    return Array(Shape((*rows.dims, query.axis(-1) if width is None else width), rows.lead))


def _as_query(call: Arguments) -> Value:
    """Return the shape of the query: kernels for attention want one width of all three."""
    if not call.is_none(None, "return_residuals"):
        return Unknown("attention with residuals")
    return Array(call.shape(0, "q"))


def _weights(call: Arguments) -> Value:
    query, key = call.shape(0, "query").expanded(3), call.shape(1, "key")
    if len(query.dims) < 3:
        return Array()
    batch, (length, heads, _) = query.dims[:-3], query.dims[-3:]
    return Array(Shape((*batch, heads, length, key.axis(-3)), query.lead))


def _mask(query: Shape, key: Shape, call: Arguments, position: int) -> Value:
    rows, columns = inserted(query, -1, as_dim(1)), inserted(key, -2, as_dim(1))
    more = call.integer(position, "extra_batch_dims", default=0)
    if more is None:
        return Array()
    mask = inserted(broadcast((rows, columns)), -3, as_dim(1))
    return Array(prefixed((as_dim(1),) * more, mask))


def _attention_mask(call: Arguments) -> Value:
    return _mask(call.shape(0, "query_input"), call.shape(1, "key_input"), call, 3)


def _causal_mask(call: Arguments) -> Value:
    shape = call.shape(0, "x")
    return _mask(shape, shape, call, 1)


def _combined(call: Arguments) -> Value:
    masks = [value for value in call.positional if not is_none(value)]
    return Array(broadcast(map(shape_of, masks))) if masks else NONE


ATTENTION: Final[dict[str, Rule]] = {
    "dot_product_attention": _attended,
    "dot_product_attention_weights": _weights,
    "make_attention_mask": _attention_mask,
    "make_causal_mask": _causal_mask,
    "combine_masks": _combined,
}
ATTENTION_KERNELS: Final[dict[str, Rule]] = {
    "tpu.flash_attention.flash_attention": _as_query,
    "gpu.attention.mha": _as_query,
}
