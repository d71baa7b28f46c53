"""Symbolic arrays of which more or less is known, and whether a result agrees with the real one."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from typed_nnx_codegen.migrate.linen.domain.dims import ArgumentSize, Dim, Piece, as_dim
from typed_nnx_codegen.migrate.linen.domain.values import (
    Array,
    Const,
    Lead,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Table,
    Unknown,
    Value,
)

KINDS: Final = ("open", "rank", "pieces", "numbers", "width")


def array(name: str, sizes: tuple[int, ...], kind: str) -> Array:
    """Return an array of which something is known.

    Args:
        name: The name of the argument.
        sizes: Its real shape.
        kind: What is known. ``open``: nothing. ``rank``: that it is an argument of this rank.
            ``pieces``: that fields say the sizes. ``numbers``: the numbers. ``width``: that a
            field says the last size, and nothing of the others. An array ``c`` is always known.
    """
    rank = len(sizes)
    if name == "c":
        kind = "numbers"
    match kind:
        case "rank":
            dims = (as_dim(ArgumentSize(name, k - rank)) for k in range(rank))
            return Array(Shape(tuple(dims)), origin=name)
        case "pieces":
            return Array(Shape(tuple(as_dim(_piece(name, k)) for k in range(rank))))
        case "numbers":
            return Array(Shape(tuple(as_dim(size) for size in sizes)))
        case "width" if rank > 1:
            return Array(Shape((as_dim(_piece(name, rank - 1)),), Lead(name, -1)))
    return Array(Shape((), Lead(name, None)), origin=name)


def _piece(name: str, axis: int) -> Piece:
    return Piece(f"fields.{name}_{axis}", ("fields",))


def real_names(shapes: dict[str, tuple[int, ...]], others: dict[str, Any]) -> dict[str, Any]:
    """Return what the names in the code of sizes stand for."""
    fields = {
        f"{name}_{axis}": size for name, shape in shapes.items() for axis, size in enumerate(shape)
    }
    arrays = {name: np.zeros(shape) for name, shape in shapes.items()}
    return {**arrays, **others, "fields": SimpleNamespace(**fields), "math": math}


def disagreements(found: Value, real: Any, names: dict[str, Any]) -> list[str]:
    """Return where a symbolic result says something that is not so."""
    match found:
        case Unknown():
            return []
        case Array(shape=shape):
            sizes = getattr(real, "shape", ())
            return _of_shapes(shape, tuple(sizes), names)
        case ShapeOf(shape=shape):
            return _of_shapes(shape, tuple(real), names)
        case Size(dim=dim):
            said = eval(dim.code(), dict(names))
            return [] if said == real else [f"{dim.code()} is {said}, not {real}"]
        case Const(value=literal):
            return [] if literal == real else [f"{literal!r}, not {real!r}"]
        case Seq(items=items):
            if len(items) != len(real):
                return [f"{len(items)} items, not {len(real)}"]
            pairs = zip(items, real, strict=True)
            return [line for item, one in pairs for line in disagreements(item, one, names)]
        case Table(items=table):
            return [
                line
                for key, item in table.items()
                for line in disagreements(item, real[key], names)
            ]
    said = eval(found.code, dict(names)) if hasattr(found, "code") else found
    return [] if said == real else [f"{found} is {said}, not {real}"]


def _of_shapes(shape: Shape, real: tuple[int, ...], names: dict[str, Any]) -> list[str]:
    wrong: list[str] = []
    known = shape.with_rank(len(real))
    if known is None:
        return [f"{shape} cannot have the shape {real}"]
    for axis, dim in enumerate(known.dims):
        wrong += _of_dims(dim, real[axis], names, f"with the rank, axis {axis}")
    for axis in range(-len(real), 0):
        wrong += _of_dims(shape.axis(axis), real[axis], names, f"axis {axis}")
    if real:
        wrong += _of_dims(shape.axis(0), real[0], names, "axis 0")
    total = shape.size_from(0)
    return wrong + _of_dims(total, math.prod(real), names, "the size")


def _of_dims(dim: Dim | None, real: int, names: dict[str, Any], where: str) -> list[str]:
    if dim is None:
        return []
    said = eval(dim.code(), dict(names))
    return [] if said == real else [f"{where}: {dim.code()} is {said}, not {real}"]


def known_last(found: Value) -> int:
    """Return how many of the last dimensions of an array are known, without its rank."""
    if isinstance(found, Seq):
        return min((known_last(item) for item in found.items), default=0)
    if not isinstance(found, Array):
        return 0 if isinstance(found, Unknown) else 9
    shape = found.shape
    if shape == Shape(()):
        return 9
    count = 0
    limit = 6 if shape.rank is None else shape.rank
    while count < limit and shape.axis(-count - 1) is not None:
        count += 1
    return 9 if shape.rank == count else count


def is_complete(found: Value) -> bool:
    """Whether the rank and all sizes of a result are known."""
    match found:
        case Array(shape=shape) | ShapeOf(shape=shape):
            return shape.rank is not None and None not in shape.dims
        case Seq(items=items):
            return all(map(is_complete, items))
    return not isinstance(found, Unknown)
