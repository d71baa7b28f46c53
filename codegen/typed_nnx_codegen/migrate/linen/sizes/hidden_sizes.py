"""Sizes that only the call knows: they have names, so that what is divided by them cancels out."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import Array, Shape
from typed_nnx_codegen.migrate.linen.sizes.dims import OF_CALL, Piece, as_dim

_numbers: Final = count()


def with_hidden_sizes(array: Array) -> Array:
    """Return an array whose shape is unpacked, with a name for each size that is not known.

    Each name is new, so that sizes of two iterations of a loop are never taken as equal.
    """
    shape = array.shape
    if shape.lead is not None or None not in shape.dims:
        return array
    dims = tuple(
        as_dim(Piece(f"hidden_{next(_numbers)}", OF_CALL)) if dim is None else dim
        for dim in shape.dims
    )
    return replace(array, shape=Shape(dims))
