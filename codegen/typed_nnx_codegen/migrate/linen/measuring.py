"""Reads the sizes of a layer off the shapes that examples call it with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from typed_nnx_codegen.migrate.linen.dims import ArgumentSize, Dim, Piece, as_dim
from typed_nnx_codegen.migrate.linen.layers import Built, Inputs
from typed_nnx_codegen.migrate.linen.layers.answers import Given
from typed_nnx_codegen.migrate.linen.layers.layer import Layer
from typed_nnx_codegen.migrate.linen.recorded import RecordedCall
from typed_nnx_codegen.migrate.linen.values import Array, Shape, Value

# More dimensions than any input has.
_RANK = 8
_UNKNOWN = "__unknown"


def stand_in(layer: Layer, name: str) -> Inputs:
    """Return inputs all of whose sizes are one name."""
    dim = as_dim(Piece(name))
    array = Array(Shape(tuple(dim for _ in range(_RANK))))
    return Inputs({one.linen: array for one in layer.calls.get("__call__", ())})


def disagreement(
    layer: Layer, given: Mapping[str, Given], built: Built, calls: Iterable[RecordedCall]
) -> str:
    """Return where an example has another size than the code of a layer; empty where none has.

    Args:
        layer: The layer.
        given: The arguments of the Linen constructor.
        built: How it is constructed.
        calls: The calls of examples.
    """
    for call in calls:
        measured = layer.build(given, Inputs(call.arguments)) if call.method == "__call__" else None
        if not isinstance(measured, Built) or len(measured.arguments) != len(built.arguments):
            continue
        for said, found in zip(built.arguments, measured.arguments, strict=True):
            if isinstance(said.code, Dim) and isinstance(found.code, Dim):
                size, true = _evaluated(said.code, call.around), found.code.constant
                if size is not None and true is not None and size != true:
                    return f"the code says that a size is {size}, in `{call.example}` it is {true}"
    return ""


def _evaluated(dim: Dim, arguments: Mapping[str, Value]) -> int | None:
    """Return a size in a call, where it depends on nothing but the arguments."""
    total = 0
    for atoms, factor in dim.terms:
        for atom in atoms:
            if not isinstance(atom, ArgumentSize):
                return None
            value = arguments.get(atom.argument)
            size = value.shape.axis(atom.axis) if isinstance(value, Array) else None
            if size is None or size.constant is None:
                return None
            factor *= size.constant
        total += factor
    return total


def measured_widths(
    layer: Layer, given: Mapping[str, Given], calls: Iterable[RecordedCall]
) -> Iterator[int]:
    """Yield the size that a layer is to be constructed with, for each call of examples.

    Args:
        layer: The layer.
        given: The arguments of the Linen constructor.
        calls: The calls.
    """
    wanted = layer.build(given, stand_in(layer, _UNKNOWN))
    if not isinstance(wanted, Built):
        return
    places = [
        number
        for number, one in enumerate(wanted.arguments)
        if isinstance(one.code, Dim) and one.code.atom == Piece(_UNKNOWN)
    ]
    for call in calls:
        built = layer.build(given, Inputs(call.arguments)) if call.method == "__call__" else None
        if not isinstance(built, Built) or len(built.arguments) != len(wanted.arguments):
            continue
        for number in places:
            code = built.arguments[number].code
            if isinstance(code, Dim) and code.constant is not None:
                yield code.constant
