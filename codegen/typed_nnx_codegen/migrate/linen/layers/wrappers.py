"""Layers around another one, and layers for which NNX has nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from typed_nnx_codegen.migrate.linen.layers.answers import (
    Built,
    Given,
    Helper,
    Inputs,
    LayerVariable,
    MissingWidth,
    Refused,
)
from typed_nnx_codegen.migrate.linen.layers.layer import Layer
from typed_nnx_codegen.migrate.linen.running.values import UNKNOWN, Value


@dataclass(frozen=True, kw_only=True)
class WrapperLayer(Layer):
    """`nn.WeightNorm` or `nn.SpectralNorm`: a class of the migrated file.

    Attributes:
        helper: The definition of the class.
        own: Its variables: the path in Linen, with ``{layer}`` for the name of the layer that it
            wraps, and the path in NNX.
    """

    helper: Helper
    own: tuple[tuple[str, str], ...]

    @property
    def definition(self) -> Helper | None:
        """The definition of its class."""
        return self.helper

    def build(
        self, given: Mapping[str, Given], inputs: Inputs | None
    ) -> Built | Refused | MissingWidth:
        """Return how the wrapper is constructed."""
        built = super().build(given, inputs)
        if not isinstance(built, Built):
            return built
        return replace(built, helpers=(*built.helpers, self.helper))

    def output(self, given: Mapping[str, Given], inputs: Inputs, method: str = "__call__") -> Value:
        """Return nothing known: who knows the layer knows what it returns."""
        return UNKNOWN

    def variables(self, given: Mapping[str, Given]) -> tuple[LayerVariable, ...]:
        """Return those of the layer and its own."""
        inner = LayerVariable("{collection}/layer_instance", "layer_instance")
        return (inner, *(LayerVariable(linen, nnx) for linen, nnx in self.own))


@dataclass(frozen=True, kw_only=True)
class LayerWithout(Layer):
    """A layer for which NNX has nothing.

    Attributes:
        why: Why it has not.
    """

    why: str

    def build(
        self, given: Mapping[str, Given], inputs: Inputs | None
    ) -> Built | Refused | MissingWidth:
        """Refuse."""
        del given, inputs
        return Refused(
            f"`{self.name}` is not migrated: {self.why}",
            "Keep the layer with `nnx.bridge.ToNNX`, or write it by hand.",
        )

    def output(self, given: Mapping[str, Given], inputs: Inputs, method: str = "__call__") -> Value:
        """Return nothing known."""
        return UNKNOWN

    def variables(self, given: Mapping[str, Given]) -> tuple[LayerVariable, ...]:
        """Return none."""
        return ()
