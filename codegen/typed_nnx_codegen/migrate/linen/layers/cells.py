"""The cells of recurrent networks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from typed_nnx_codegen.migrate.linen.layers.answers import (
    Argument,
    Built,
    Given,
    Helper,
    Inputs,
    LayerVariable,
    MissingWidth,
    Refused,
)
from typed_nnx_codegen.migrate.linen.layers.known import (
    argument,
    last_axis,
    literal,
    shape_of,
    size_of,
    with_last,
)
from typed_nnx_codegen.migrate.linen.layers.layer import Layer
from typed_nnx_codegen.migrate.linen.running.values import (
    ANY_SHAPE,
    Array,
    Seq,
    Shape,
    ShapeOf,
    Value,
)

_ZEROS: Final = re.compile(r"(?:[\w.]+\.)?(?:zeros|zeros_init\(\))")
_FIXED: Final = re.compile(r"(?:[\w.]+\.)?(?:ones|ones_init\(\)|constant\(.*\))")


@dataclass(frozen=True, kw_only=True)
class CellLayer(Layer):
    """A cell of a recurrent network.

    Attributes:
        arrays: How many arrays the carry is: 1, or 2 in a tuple.
        gates: The layers in it: the path in Linen, the attribute in NNX, and the names of their
            parameters.
        switch: The setting without which the layers have no bias, if there is one.
        helper: The definition of its class, where NNX has none that computes the same.
    """

    arrays: int = 1
    gates: tuple[tuple[str, str, tuple[str, ...]], ...]
    switch: str = ""
    helper: Helper | None = None

    @property
    def definition(self) -> Helper | None:
        """The definition of its class."""
        return self.helper

    def build(
        self, given: Mapping[str, Given], inputs: Inputs | None
    ) -> Built | Refused | MissingWidth:
        """Return how the cell is constructed; its first carry is zeros by default."""
        kept = dict(given)
        if "carry_init" in kept and _ZEROS.fullmatch(kept["carry_init"].code):
            del kept["carry_init"]
        built = super().build(kept, inputs)
        if self.helper is None or not isinstance(built, Built):
            return built
        return replace(built, helpers=(*built.helpers, self.helper))

    def refused(self, given: Mapping[str, Given], inputs: Inputs | None) -> Refused | None:
        """Refuse a random first carry, and a carry of another width."""
        if "carry_init" in given and not _FIXED.fullmatch(given["carry_init"].code):
            return Refused(
                f"`{self.name}(carry_init={given['carry_init'].code})`: NNX draws the first carry "
                "with another key, so its numbers would differ.",
                "Pass the first carry to the call as `initial_carry`.",
            )
        carry = argument(inputs, "carry")
        if isinstance(carry, Seq) and carry.items:
            carry = carry.items[-1]
        width, features = shape_of(carry).axis(-1), size_of(given["features"].value)
        if width is None or features is None or width == features:
            return None
        if width.constant is None or features.constant is None:
            # Equal as far as can be seen; the product fails where they are not.
            return None
        return Refused(
            f"`{self.name}` has {features.constant} features and a carry of {width.constant}; "
            "Linen takes the width of the carry, NNX the features.",
            "Construct the cell with the width of the carry.",
        )

    def widths(
        self, given: Mapping[str, Given], inputs: Inputs | None
    ) -> tuple[Argument, ...] | Refused | MissingWidth:
        """Return the size of the last axis of the inputs of a step."""
        width = last_axis(inputs, "inputs")
        if width is None:
            width = _shape_argument(inputs).axis(-1)
        return MissingWidth("in_features") if width is None else (Argument("", width),)

    def call(
        self, given: Mapping[str, Given], arguments: Mapping[str, Given], method: str = "__call__"
    ) -> tuple[Argument, ...] | Refused:
        """Return the arguments of a step, or of `initialize_carry` in the order of NNX."""
        if method != "initialize_carry":
            return super().call(given, arguments, method)
        if not arguments.keys() >= {"rng", "input_shape"}:
            return Refused(
                "`initialize_carry` is called without `rng` and `input_shape`.",
                "Call it as flax 0.12 has it: `cell.initialize_carry(rng, input_shape)`.",
            )
        shape, key = arguments["input_shape"], arguments["rng"]
        return (Argument("", shape.code), Argument("", f"nnx.Rngs(carry={key.code})"))

    def first_carry(self, given: Mapping[str, Given], input_shape: str) -> str | None:
        """Return an expression for what `initialize_carry` returns, which needs no cell.

        Args:
            given: The arguments of the Linen constructor.
            input_shape: The code of the shape of the inputs.

        Returns:
            Code in terms of ``jnp``; None where the carry is not zeros.
        """
        if "features" not in given:
            return None
        if "carry_init" in given and not _ZEROS.fullmatch(given["carry_init"].code):
            return None
        dtype = f", {given['param_dtype'].code}" if "param_dtype" in given else ""
        zeros = f"jnp.zeros((*({input_shape})[:-1], {given['features'].code}){dtype})"
        return zeros if self.arrays == 1 else f"({zeros}, {zeros})"

    def output(self, given: Mapping[str, Given], inputs: Inputs, method: str = "__call__") -> Value:
        """Return the carry and, of a step, the output."""
        features = size_of(given["features"].value) if "features" in given else None
        of_carry = method == "initialize_carry"
        shape = _shape_argument(inputs) if of_carry else shape_of(argument(inputs, "inputs"))
        array = Array(with_last(shape, features))
        carry: Value = array if self.arrays == 1 else Seq((array,) * self.arrays)
        return carry if of_carry else Seq((carry, array))

    def variables(self, given: Mapping[str, Given]) -> tuple[LayerVariable, ...]:
        """Return the parameters of the gates."""
        off = bool(self.switch) and literal(given, self.switch, True) is False
        return tuple(
            LayerVariable(f"params/{linen}/{part}", f"{nnx}.{part}")
            for linen, nnx, parts in self.gates
            for part in parts
            if not (off and part == "bias")
        )


def _shape_argument(inputs: Inputs | None) -> Shape:
    """Return the shape that `initialize_carry` is called with."""
    match argument(inputs, "input_shape"):
        case ShapeOf(shape=shape):
            return shape
        case Seq(items=items):
            return Shape(tuple(size_of(item) for item in items))
    return ANY_SHAPE
