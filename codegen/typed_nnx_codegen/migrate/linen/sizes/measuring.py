"""Reads the sizes of a layer off the shapes that examples call it with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from typed_nnx_codegen.migrate.linen.layers import Argument, Built, Inputs
from typed_nnx_codegen.migrate.linen.layers.answers import Given, Template
from typed_nnx_codegen.migrate.linen.layers.layer import Layer
from typed_nnx_codegen.migrate.linen.running.values import Array, Shape
from typed_nnx_codegen.migrate.linen.sizes.dims import ArgumentSize, Atom, Dim, Piece, as_dim
from typed_nnx_codegen.migrate.linen.sizes.fitting import Measured
from typed_nnx_codegen.migrate.linen.sizes.recorded import RecordedCall

# More dimensions than any input has.
_RANK = 8
_UNKNOWN = "__unknown"


def stand_in(layer: Layer, size: Dim) -> Inputs:
    """Return inputs all of whose dimensions are one size."""
    array = Array(Shape(tuple(size for _ in range(_RANK))))
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
                size, true = _evaluated(said.code, call), found.code.constant
                if size is not None and true is not None and size != true:
                    return f"the code says that a size is {size}, in `{call.example}` it is {true}"
    return ""


def _evaluated(dim: Dim, call: RecordedCall) -> int | None:
    """Return a size in a call, where it depends on nothing but arguments and fields."""
    known: dict[Atom, Dim] = {}
    for atom in dim.atoms():
        size: int | None = None
        if isinstance(atom, Piece):
            size = call.sizes.get(atom.code)
        elif isinstance(atom, ArgumentSize):
            value = call.around.get(atom.argument)
            found = value.shape.axis(atom.axis) if isinstance(value, Array) else None
            size = None if found is None else found.constant
        if size is None:
            return None
        known[atom] = as_dim(size)
    return dim.replaced(known).constant


def measured_widths(
    layer: Layer, given: Mapping[str, Given], calls: Iterable[RecordedCall]
) -> Iterator[Measured]:
    """Yield the size that a layer is to be constructed with, for each call of examples.

    Args:
        layer: The layer.
        given: The arguments of the Linen constructor.
        calls: The calls.
    """
    unknown = as_dim(Piece(_UNKNOWN))
    wanted = layer.build(given, stand_in(layer, unknown))
    if not isinstance(wanted, Built):
        return
    for call in calls:
        built = layer.build(given, Inputs(call.arguments)) if call.method == "__call__" else None
        if not isinstance(built, Built) or len(built.arguments) != len(wanted.arguments):
            continue
        for argument, measured in zip(wanted.arguments, built.arguments, strict=True):
            for part, size in zip(_parts(argument), _parts(measured), strict=False):
                if part == unknown and isinstance(size, Dim) and size.constant is not None:
                    yield Measured(size.constant, call)


def _parts(argument: Argument) -> tuple[str | Dim, ...]:
    code = argument.code
    return code.parts if isinstance(code, Template) else (code,)
