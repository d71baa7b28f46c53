"""`nn.Embed`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from typed_nnx_codegen.migrate.linen.layers.answers import (
    Argument,
    Given,
    Inputs,
    LayerVariable,
    Refused,
)
from typed_nnx_codegen.migrate.linen.layers.known import (
    argument,
    is_single_precision,
    literal,
    shape_of,
    size_of,
    with_last,
)
from typed_nnx_codegen.migrate.linen.layers.layer import Layer
from typed_nnx_codegen.migrate.linen.running.values import Array, Shape, Value


@dataclass(frozen=True, kw_only=True)
class EmbedLayer(Layer):
    """`nn.Embed`, which is `nnx.Embed`."""

    def call(
        self, given: Mapping[str, Given], arguments: Mapping[str, Given], method: str = "__call__"
    ) -> tuple[Argument, ...] | Refused:
        """Return the arguments; `attend` of parameters in half precision is refused."""
        if (
            method == "attend"
            and literal(given, "dtype") is None
            and not is_single_precision(given, "param_dtype")
        ):
            return Refused(
                "`nn.Embed.attend` without a dtype computes in the wider dtype of query and "
                "embedding, `nnx.Embed.attend` in that of the embedding.",
                "Give the layer the `dtype` to compute in.",
            )
        return super().call(given, arguments, method)

    def output(self, given: Mapping[str, Given], inputs: Inputs, method: str = "__call__") -> Value:
        """Return an array with a new last axis; of `attend`, with another one."""
        if method == "attend":
            count = size_of(given["num_embeddings"].value) if "num_embeddings" in given else None
            return Array(with_last(shape_of(argument(inputs, "query")), count))
        features = size_of(given["features"].value) if "features" in given else None
        shape = shape_of(argument(inputs, "inputs"))
        return Array(Shape((*shape.dims, features), shape.lead))

    def variables(self, given: Mapping[str, Given]) -> tuple[LayerVariable, ...]:
        """Return the embedding."""
        return (LayerVariable("params/embedding", "embedding"),)
