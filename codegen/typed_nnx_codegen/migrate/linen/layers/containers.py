"""`nn.Sequential`, and what runs a cell over time: `nn.RNN` and `nn.Bidirectional`."""

from __future__ import annotations

import ast
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
    parsed,
    shape_of,
    size_of,
    unless_none,
    with_last,
)
from typed_nnx_codegen.migrate.linen.layers.layer import Layer
from typed_nnx_codegen.migrate.linen.running.values import UNKNOWN, Array, Seq, Value
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim


@dataclass(frozen=True, kw_only=True)
class SequentialLayer(Layer):
    """`nn.Sequential`, whose layers NNX takes one by one."""

    def widths(
        self, given: Mapping[str, Given], inputs: Inputs | None
    ) -> tuple[Argument, ...] | Refused | MissingWidth:
        """Return the layers."""
        del inputs
        return tuple(Argument("", code) for code in _items(given["layers"].code))

    def output(self, given: Mapping[str, Given], inputs: Inputs, method: str = "__call__") -> Value:
        """Return nothing known: who knows the layers knows what they return."""
        return UNKNOWN

    def variables(self, given: Mapping[str, Given]) -> tuple[LayerVariable, ...]:
        """Return the layers by number."""
        return (LayerVariable("{collection}/layers_{i}", "layers.{i}"),)


@dataclass(frozen=True, kw_only=True)
class OverTimeLayer(Layer):
    """`nn.RNN` or `nn.Bidirectional`.

    Where the features of a cell are known, its `Given` has them as value, a `Size`.

    Attributes:
        inner: The settings that are modules, which have a name of their own in the variables.
    """

    inner: tuple[str, ...]

    def call(
        self, given: Mapping[str, Given], arguments: Mapping[str, Given], method: str = "__call__"
    ) -> tuple[Argument, ...] | Refused:
        """Return the arguments, with a stream in the place of a key."""
        key = arguments.get("init_key")
        if key is not None and literal_of(key.value) is not None:
            stream = unless_none(key, f"nnx.Rngs(carry={key.code})")
            arguments = {**arguments, "init_key": Given(stream, key.value, key.keyword)}
        return super().call(given, arguments, method)

    def output(self, given: Mapping[str, Given], inputs: Inputs, method: str = "__call__") -> Value:
        """Return the outputs of all steps; after the carry where that is asked for."""
        total: Dim | None = None
        widths = [size_of(given[name].value) if name in given else None for name in self.inner]
        known = [width for width in widths if width is not None]
        if len(known) == len(widths) and "merge_fn" not in given:
            total = sum(known[1:], known[0])
        outputs = Array(with_last(shape_of(argument(inputs, "inputs")), total))
        asked = literal_of(inputs.arguments.get("return_carry", UNKNOWN))
        if "return_carry" not in inputs.arguments or asked is None:
            asked = literal(given, "return_carry", False)
        if not isinstance(asked, bool):
            return UNKNOWN
        return Seq((UNKNOWN, outputs)) if asked else outputs

    def variables(self, given: Mapping[str, Given]) -> tuple[LayerVariable, ...]:
        """Return what the inner modules have."""
        return tuple(LayerVariable(f"{{collection}}/{name}", name) for name in self.inner)


def _items(code: str) -> list[str]:
    """Return the items of a list or tuple that is written out; else its code with a star."""
    tree = parsed(code)
    if not isinstance(tree, ast.List | ast.Tuple):
        return [f"*{operand(code)}"]
    return [ast.unparse(item) for item in tree.elts]
