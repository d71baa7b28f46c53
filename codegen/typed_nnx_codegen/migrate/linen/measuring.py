"""Reads the sizes of a layer off the shapes that examples call it with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from typed_nnx_codegen.migrate.linen.dims import Dim, Piece, as_dim
from typed_nnx_codegen.migrate.linen.layers import Built, Inputs
from typed_nnx_codegen.migrate.linen.layers.answers import Given
from typed_nnx_codegen.migrate.linen.layers.layer import Layer
from typed_nnx_codegen.migrate.linen.recorded import RecordedCall
from typed_nnx_codegen.migrate.linen.values import Array, Shape

# More dimensions than any input has.
_RANK = 8
_UNKNOWN = "__unknown"


def stand_in(layer: Layer, name: str) -> Inputs:
    """Return inputs all of whose sizes are one name."""
    dim = as_dim(Piece(name))
    array = Array(Shape(tuple(dim for _ in range(_RANK))))
    return Inputs({one.linen: array for one in layer.calls.get("__call__", ())})


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
