"""What a swap of two axes tells of the rank of an array."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import Array, Const, Value

SWAPPING: Final = ("jax.numpy.swapaxes", "jax.numpy.moveaxis", "numpy.swapaxes")


def ranked(args: list[Value]) -> list[Value]:
    """Return the arguments of a swap of axes; an array of unknown rank has as many as are named.

    Not where the first two change places, as time and batch do: what is behind them stays.
    """
    match args:
        case [Array(shape=shape) as array, Const(value=int() as one), Const(value=int() as other)]:
            if {one, other} == {0, 1}:
                return args
            known = shape.with_rank(max(one, other) + 1) if min(one, other) >= 0 else None
            if shape.rank is None and known is not None:
                return [replace(array, shape=known), *args[1:]]
    return args
