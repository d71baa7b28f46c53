"""`nn.Dense` and `nn.DenseGeneral`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from typed_nnx_codegen.migrate.linen.layers.answers import (
    Argument,
    Given,
    Helper,
    Inputs,
    LayerVariable,
    MissingWidth,
    Refused,
    Template,
)
from typed_nnx_codegen.migrate.linen.layers.known import (
    argument,
    integers,
    last_axis,
    literal,
    shape_of,
    size_of,
    with_last,
)
from typed_nnx_codegen.migrate.linen.layers.layer import Layer, use_switch
from typed_nnx_codegen.migrate.linen.running.values import (
    ANY_SHAPE,
    Array,
    Code,
    Seq,
    Shape,
    Value,
)
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim


@dataclass(frozen=True, kw_only=True)
class DenseLayer(Layer):
    """`nn.Dense`, which is `nnx.Linear`."""

    def widths(
        self, given: Mapping[str, Given], inputs: Inputs | None
    ) -> tuple[Argument, ...] | Refused | MissingWidth:
        """Return the size of the last axis."""
        width = last_axis(inputs, "inputs")
        return MissingWidth("in_features") if width is None else (Argument("", width),)

    def output(self, given: Mapping[str, Given], inputs: Inputs, method: str = "__call__") -> Value:
        """Return an array with `features` along its last axis."""
        features = size_of(given["features"].value) if "features" in given else None
        return Array(with_last(shape_of(argument(inputs, "inputs")), features))

    def variables(self, given: Mapping[str, Given]) -> tuple[LayerVariable, ...]:
        """Return kernel and bias."""
        return (LayerVariable("params/kernel", "kernel"), *use_switch(given, "use_bias", "bias"))


@dataclass(frozen=True, kw_only=True)
class DenseGeneralLayer(DenseLayer):
    """`nn.DenseGeneral`, which is `nnx.LinearGeneral`."""

    def refused(self, given: Mapping[str, Given], inputs: Inputs | None) -> Refused | None:
        """Refuse axes that are not literal."""
        for name, default in (("axis", -1), ("batch_dims", ())):
            if integers(literal(given, name, default)) is None:
                return Refused(
                    f"`nn.DenseGeneral({name}={given[name].code})` does not say which axes of the "
                    "inputs give the shape of the kernel.",
                    f"Write `{name}` with literal axes.",
                )
        return None

    def widths(
        self, given: Mapping[str, Given], inputs: Inputs | None
    ) -> tuple[Argument, ...] | Refused | MissingWidth:
        """Return the sizes of the contracted axes in the order of the kernel."""
        shape = shape_of(argument(inputs, "inputs"))
        axes = _in_order(integers(literal(given, "axis", -1)) or (), shape)
        if axes is None:
            return MissingWidth("in_features")
        widths = _known([shape.axis(axis) for axis in axes])
        if widths is None:
            return MissingWidth("in_features")
        if self._batch_axis(given, shape) is None:
            return MissingWidth("batch_axis")
        return (Argument("", widths[0] if len(widths) == 1 else tuple_of(widths)),)

    def added(
        self, given: Mapping[str, Given], inputs: Inputs | None
    ) -> tuple[tuple[Argument, ...], tuple[Helper, ...]]:
        """Return the sizes of the batch axes."""
        sizes = self._batch_axis(given, shape_of(argument(inputs, "inputs")))
        return ((Argument("batch_axis", _mapping(sizes)),) if sizes else ()), ()

    def _batch_axis(self, given: Mapping[str, Given], shape: Shape) -> dict[int, Dim] | None:
        axes = sorted(integers(literal(given, "batch_dims", ())) or ())
        sizes = _known([shape.axis(axis) for axis in axes])
        return None if sizes is None else dict(zip(axes, sizes, strict=True))

    def output(self, given: Mapping[str, Given], inputs: Inputs, method: str = "__call__") -> Value:
        """Return an array without the contracted axes and with `features` at its end."""
        axes = integers(literal(given, "axis", -1))
        features = _features(given["features"].value) if "features" in given else None
        if axes is None or features is None:
            return Array(ANY_SHAPE)
        shape = shape_of(argument(inputs, "inputs"))
        if shape.rank is None and all(axis < 0 for axis in axes):
            shape = shape.expanded(-min(axes))
        rank = len(shape.dims)
        if shape.rank is None and any(axis >= 0 for axis in axes):
            return Array(ANY_SHAPE)
        contracted = {axis % rank for axis in axes} if rank else set()
        kept = (dim for at, dim in enumerate(shape.dims) if at not in contracted)
        return Array(Shape((*kept, *features), shape.lead))


def tuple_of(sizes: list[Dim]) -> Template:
    """Return code for a tuple of sizes."""
    parts: list[str | Dim] = ["("]
    for at, size in enumerate(sizes):
        parts.extend((", ", size) if at else (size,))
    return Template((*parts, ",)" if len(sizes) == 1 else ")"))


def _mapping(sizes: Mapping[int, Dim]) -> Template:
    parts: list[str | Dim] = []
    for key, size in sizes.items():
        parts.extend((", " if parts else "{", f"{key}: ", size))
    return Template((*parts, "}"))


def _known(sizes: list[Dim | None]) -> list[Dim] | None:
    """Return sizes if all are known."""
    known = [size for size in sizes if size is not None]
    return known if len(known) == len(sizes) else None


def _in_order(axes: tuple[int, ...], shape: Shape) -> tuple[int, ...] | None:
    """Return axes in the order in which the kernel has them; None where the rank decides it."""
    if all(axis < 0 for axis in axes) or all(axis >= 0 for axis in axes):
        return tuple(sorted(axes))
    if shape.rank is None:
        return None
    return tuple(sorted(axis % shape.rank for axis in axes))


def _features(value: Value) -> tuple[Dim | None, ...] | None:
    """Return the sizes of the new axes; None where it is not known how many they are."""
    if isinstance(value, Seq):
        return tuple(size_of(item) for item in value.items)
    # The code of a setting may stand for a tuple; a size does not.
    is_open = isinstance(value, Code) and not value.is_number
    size = None if is_open else size_of(value)
    return None if size is None else (size,)
