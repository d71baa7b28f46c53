"""`nn.Einsum`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from typed_nnx_codegen.migrate.linen.layers.answers import (
    Argument,
    Given,
    Inputs,
    LayerVariable,
    MissingWidth,
    Refused,
)
from typed_nnx_codegen.migrate.linen.layers.known import (
    argument,
    literal,
    literal_of,
    operand,
    shape_of,
    size_of,
)
from typed_nnx_codegen.migrate.linen.layers.layer import Layer, use_switch
from typed_nnx_codegen.migrate.linen.running.values import (
    ANY_SHAPE,
    Array,
    Lead,
    Seq,
    Shape,
    Value,
)
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim


@dataclass(frozen=True, kw_only=True)
class EinsumLayer(Layer):
    """`nn.Einsum`, for which NNX wants the shape of the bias."""

    def refused(self, given: Mapping[str, Given], inputs: Inputs | None) -> Refused | None:
        """Refuse an equation that is needed and not literal."""
        has_bias = literal(given, "use_bias", True) is not False
        in_constructor = literal(given, "einsum_str") is not None
        equation = _equation(given, inputs)
        fix = "Write the equation as a literal in the constructor."
        if not in_constructor and equation is None:
            return Refused("NNX wants the equation of `nn.Einsum` where it is constructed.", fix)
        if has_bias and (equation is None or "." in equation[1]):
            return Refused(
                "The equation of `nn.Einsum` does not say the shape of its bias, which NNX wants.",
                fix,
            )
        return None

    def widths(
        self, given: Mapping[str, Given], inputs: Inputs | None
    ) -> tuple[Argument, ...] | Refused | MissingWidth:
        """Return the equation and the shapes of kernel and bias."""
        shape = given["shape"]
        if literal(given, "einsum_str") is not None:
            text = given["einsum_str"].code
        else:
            text = repr(literal_of(argument(inputs, "einsum_str")))
        found = (Argument("", text), Argument("", shape.code))
        switch = literal(given, "use_bias", True)
        equation = _equation(given, inputs)
        if switch is False or equation is None:
            return found
        _, kernel, result = equation
        axes = [kernel.index(letter) for letter in result if letter in kernel]
        bias = _picked(shape, axes)
        if switch is not True:
            bias = f"{bias} if {operand(given['use_bias'].code)} else None"
        return (*found, Argument("bias_shape", bias))

    def output(self, given: Mapping[str, Given], inputs: Inputs, method: str = "__call__") -> Value:
        """Return the array of the result of the equation."""
        equation = _equation(given, inputs)
        if equation is None or "." in equation[1]:
            return Array(ANY_SHAPE)
        first, kernel, result = equation
        ellipsis = first.startswith("...") and result.startswith("...")
        if "." in (first + result).replace("...", "", 2) or ("." in first and not ellipsis):
            return Array(ANY_SHAPE)
        shape = shape_of(argument(inputs, "inputs"))
        letters = first.removeprefix("...")
        if not ellipsis:
            shape = shape.with_rank(len(letters)) or ANY_SHAPE
        sizes: dict[str, Dim | None] = {
            letter: shape.axis(at - len(letters)) for at, letter in enumerate(letters)
        }
        value = given["shape"].value if "shape" in given else None
        items = value.items if isinstance(value, Seq) else ()
        sizes.update((letter, size_of(item)) for letter, item in zip(kernel, items, strict=False))
        dims = tuple(sizes.get(letter) for letter in result.removeprefix("..."))
        if not ellipsis:
            return Array(Shape(dims))
        known = shape.expanded(len(letters))
        before = known.dims[: len(known.dims) - len(letters)]
        lead = known.lead if len(known.dims) >= len(letters) else Lead("", None)
        return Array(Shape((*before, *dims), lead))

    def variables(self, given: Mapping[str, Given]) -> tuple[LayerVariable, ...]:
        """Return kernel and bias."""
        return (LayerVariable("params/kernel", "kernel"), *use_switch(given, "use_bias", "bias"))


def _equation(given: Mapping[str, Given], inputs: Inputs | None) -> tuple[str, str, str] | None:
    """Return the axes of inputs, kernel and result; None where they are not literal."""
    text = literal(given, "einsum_str")
    if text is None:
        text = literal_of(argument(inputs, "einsum_str"))
    if not isinstance(text, str):
        return None
    operands, arrow, result = text.replace(" ", "").partition("->")
    first, comma, second = operands.partition(",")
    return (first, second, result) if arrow and comma and "," not in second else None


def _picked(shape: Given, axes: list[int]) -> str:
    """Return code for a tuple of some sizes of a shape."""
    if isinstance(shape.value, Seq) and literal_of(shape.value) and not axes:
        return "()"
    items = [f"{operand(shape.code)}[{axis}]" for axis in axes]
    constants = literal_of(shape.value)
    if isinstance(constants, tuple):
        items = [str(constants[axis]) for axis in axes]
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
