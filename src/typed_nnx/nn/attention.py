"""``nnx.nn.attention``: attention, and the masks that limit it."""

from typed_nnx._core.module import Module as Module
from typed_nnx.nn._attention import MultiHeadAttention as MultiHeadAttention
from typed_nnx.nn._dot_product_attention import dot_product_attention as dot_product_attention
from typed_nnx.nn._dot_product_attention import (
    dot_product_attention_weights as dot_product_attention_weights,
)
from typed_nnx.nn._layer_norm import LayerNorm as LayerNorm
from typed_nnx.nn._linear_general import LinearGeneral as LinearGeneral
from typed_nnx.nn._masks import combine_masks as combine_masks
from typed_nnx.nn._masks import make_attention_mask as make_attention_mask
from typed_nnx.nn._masks import make_causal_mask as make_causal_mask
from typed_nnx.nn._typing import Initializer as Initializer
