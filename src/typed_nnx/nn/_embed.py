"""`Embed`: a table of vectors, looked up by number."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable_types import Param
from typed_nnx.errors import LayerInputError
from typed_nnx.nn import initializers
from typed_nnx.nn._parameters import NO_METADATA, Metadata, new_param
from typed_nnx.nn._shapes import described, size_held
from typed_nnx.nn._typing import Array, Dtype, Initializer, PromoteDtypeFn, Sharding
from typed_nnx.nn.dtypes import promote_dtype

embedding_init: Initializer = initializers.variance_scaling(1.0, "fan_in", "normal", out_axis=0)

# Its types do not know that it takes the function and options together.
_auto_axes: Any = jax.sharding.auto_axes


class Embed(Module):
    """A table of `num_embeddings` vectors, looked up by number.

    >>> table = Embed(10, 3, rngs=Rngs(0))
    >>> table(jnp.array([[1, 5]])).shape
    (1, 2, 3)

    Args:
        num_embeddings: How many vectors there are.
        features: Size of each.
        dtype: The dtype of the result; None means that of the table.
        param_dtype: The dtype of the table.
        embedding_init: Initializer of `embedding`, [num_embeddings, features].
        promote_dtype: What brings table and queries to one dtype.
        rngs: Gives one key of the stream ``params``.
        embedding_metadata: Metadata of `embedding`, such as ``out_sharding``.
    """

    embedding: Param[jax.Array]

    def __init__(
        self,
        num_embeddings: int,
        features: int,
        *,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        embedding_init: Initializer = embedding_init,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        rngs: Rngs,
        embedding_metadata: Metadata = NO_METADATA,
    ) -> None:
        self.embedding = new_param(
            self, rngs, embedding_init, (num_embeddings, features), param_dtype, embedding_metadata
        )
        self.num_embeddings: int = num_embeddings
        self.features: int = features
        # Not `or`: numpy's dtypes are false.
        self.dtype: Dtype = self.embedding.dtype if dtype is None else dtype
        self.param_dtype: Dtype = param_dtype
        self.promote_dtype: PromoteDtypeFn = promote_dtype

    def __call__(self, inputs: Array, out_sharding: Sharding = None) -> Array:
        """Return the vectors of `inputs`: integer [...] -> [..., features].

        A number that the table does not have gives NaN; a negative one counts from the end.

        Args:
            inputs: Which vectors.
            out_sharding: Layout of the result over an explicit mesh.

        Raises:
            LayerInputError: `inputs` are not integers.
        """
        if not jnp.issubdtype(jnp.result_type(inputs), jnp.integer):
            raise LayerInputError(
                type(self).__name__,
                "inputs",
                described(inputs),
                "integers, signed or unsigned",
                "inputs.astype(jnp.int32)",
            )
        (embedding,) = self.promote_dtype((self.embedding[...],), dtype=self.dtype, inexact=False)
        if self.num_embeddings == embedding.shape[0] == 1:
            # The only vector there is: the gradient is a sum, where a lookup would scatter. The one
            # vector of a slice is looked up: numbers may be those of other slices.
            return jnp.broadcast_to(embedding, (*jnp.shape(inputs), embedding.shape[1]))
        if out_sharding is None:
            return jnp.take(embedding, inputs, axis=0)
        laid_out: Array = _auto_axes(_rows, out_sharding=out_sharding)(embedding, inputs)
        return laid_out

    def attend(self, query: Array, out_sharding: Sharding = None) -> Array:
        """Return the product of each query with each vector: [..., features] -> [..., vectors].

        As the last layer of a language model it gives logits over the table that embeds the words.

        Args:
            query: Any dtype, [..., features].
            out_sharding: Layout of the result over an explicit mesh.

        Raises:
            LayerInputError: The last axis of `query` has another size than that of `embedding`.

        Source: Press and Wolf, "Using the Output Embedding to Improve Language Models", 2017.
        """
        features = self.embedding.shape[-1]
        if jnp.shape(query)[-1:] != (features,):
            raise LayerInputError(
                f"{type(self).__name__}.attend",
                "query",
                described(query),
                f"a last axis of size {size_held(self, 'features', features, 'embedding')}",
                f"a query of shape (..., {features})",
            )
        query, embedding = self.promote_dtype((query, self.embedding[...]), dtype=self.dtype)
        return jnp.dot(query, embedding.T, out_sharding=out_sharding)


def _rows(table: Array, numbers: Array) -> Array:
    return jnp.take(table, numbers, axis=0)
