"""Layers that keep the shape: `nn.Dropout`, `nn.PReLU`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from typed_nnx_codegen.migrate.linen.layers.answers import Given, Inputs, LayerVariable
from typed_nnx_codegen.migrate.linen.layers.known import argument, shape_of
from typed_nnx_codegen.migrate.linen.layers.layer import Layer
from typed_nnx_codegen.migrate.linen.running.values import Array, Value


@dataclass(frozen=True, kw_only=True)
class SameShapeLayer(Layer):
    """A layer that returns an array of the shape of its inputs.

    Attributes:
        kept: Its variables: the path in Linen and in NNX.
    """

    kept: tuple[LayerVariable, ...] = ()

    def output(self, given: Mapping[str, Given], inputs: Inputs, method: str = "__call__") -> Value:
        """Return an array of the same shape."""
        return Array(shape_of(argument(inputs, "inputs")))

    def variables(self, given: Mapping[str, Given]) -> tuple[LayerVariable, ...]:
        """Return the variables that it always has."""
        return self.kept
