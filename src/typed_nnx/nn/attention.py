"""``nnx.nn.attention``: attention, and the masks that limit it."""

from typed_nnx.nn._attention import MultiHeadAttention as MultiHeadAttention
from typed_nnx.nn._dot_product_attention import dot_product_attention as dot_product_attention
from typed_nnx.nn._dot_product_attention import (
    dot_product_attention_weights as dot_product_attention_weights,
)
from typed_nnx.nn._masks import combine_masks as combine_masks
from typed_nnx.nn._masks import make_attention_mask as make_attention_mask
from typed_nnx.nn._masks import make_causal_mask as make_causal_mask
