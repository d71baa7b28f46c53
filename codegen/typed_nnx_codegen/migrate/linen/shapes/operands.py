"""Reads values as what a function takes them for: sizes, numbers, axes, shapes, arrays, code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import (
    ANY_SHAPE,
    Array,
    Code,
    CodeTuple,
    Const,
    Lead,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.sizes.dims import ArgumentSize, Combined, Dim, Piece, as_dim
from typed_nnx_codegen.migrate.linen.sizes.size_atoms import held_shape

SCALAR: Final = Shape(())
A_NUMBER: Final = Array(SCALAR)
# Code that makes an array of what may be a list.
_ARRAY_OF: Final = re.compile(r"\(?[\w.]+\.(array|asarray)\(")


def dim_of(value: Value) -> Dim | None:
    """Return the integer that a value stands for, as a size; None where it is none."""
    match value:
        case Size(dim=dim):
            return dim
        case Const(value=int() as number) if not isinstance(number, bool):
            return as_dim(number)
        case Code(code=code, home=home):
            return as_dim(Piece(code, home))
    return None


def number_of(value: Value) -> int | None:
    """Return the literal integer that a value is; None where it is none."""
    dim = None if isinstance(value, Code) else dim_of(value)
    return None if dim is None else dim.constant


def size_value(dim: Dim | None) -> Value:
    """Return a size as a value: a literal where it is one."""
    if dim is None:
        return Unknown("a dimension is not known")
    return Size(dim) if dim.constant is None else Const(dim.constant)


def is_none(value: Value) -> bool:
    """Whether a value is the literal None."""
    return isinstance(value, Const) and value.value is None


def text_of(value: Value) -> str | None:
    """Return the literal text that a value is; None where it is none."""
    return value.value if isinstance(value, Const) and isinstance(value.value, str) else None


def items_of(value: Value) -> tuple[Value, ...] | None:
    """Return the items of a tuple, list or shape; None where they are not known one by one."""
    if isinstance(value, Seq):
        return value.items
    if isinstance(value, ShapeOf) and value.shape.lead is None:
        return tuple(size_value(dim) for dim in value.shape.dims)
    return None


def integers_of(value: Value) -> tuple[int, ...] | None:
    """Return literal integers, of one or of a sequence; None where they are not known."""
    single = number_of(value)
    if single is not None:
        return (single,)
    items = items_of(value)
    numbers = [number_of(item) for item in items] if items is not None else [None]
    known = tuple(number for number in numbers if number is not None)
    return known if len(known) == len(numbers) else None


def wanted_shape(value: Value) -> Shape:
    """Return the shape that an argument `shape=` asks for; -1 stays a constant in it."""
    match value:
        case ShapeOf(shape=shape) | CodeTuple(shape=shape):
            return shape
        case Seq(items=items):
            return Shape(tuple(dim_of(item) for item in items))
        case Size() | Const(value=int()):
            return Shape((dim_of(value),))
        case Code(code=code, home="", is_shape=True):
            return Shape((), Lead(held_shape(code), None))
    return ANY_SHAPE


def shape_of(value: Value) -> Shape:
    """Return the shape of what a function makes an array of; any where it is not known."""
    match value:
        case Array(shape=shape):
            return shape
        case Code(code=code) if _ARRAY_OF.match(code):
            return ANY_SHAPE
        case Const(value=bool() | int() | float() | complex()) | Size() | Code():
            return SCALAR
        case ShapeOf(shape=shape):
            return Shape((None if shape.rank is None else as_dim(shape.rank),))
        case Seq(items=items):
            return _nested(items)
    return ANY_SHAPE


def _nested(items: tuple[Value, ...]) -> Shape:
    if not items:
        return Shape((as_dim(0),))
    shapes = [shape_of(item) for item in items]
    best = min(shapes, key=lambda shape: (shape.lead is not None, shape.dims.count(None)))
    if best.lead is None:
        return Shape((as_dim(len(items)), *best.dims))
    return Shape(
        best.dims,
        # The rank is not known: what is before the argument's dimensions is one more.
        prefixed((as_dim(len(items)),), best).lead,
    )


def prefixed(dims: Iterable[Dim | None], shape: Shape) -> Shape:
    """Return a shape with dimensions before its first."""
    lead = shape.lead
    if lead is None:
        return Shape((*dims, *shape.dims))
    lead = with_front(lead, [*dims, *lead.front])
    if lead.front and lead.sure is None:
        # What is asked for from the end may be one of the first dimensions.
        lead = replace(lead, sure=0 if shape.dims else 1)
    return Shape(shape.dims, lead)


def with_front(lead: Lead, front: list[Dim | None]) -> Lead:
    """Return a lead with dimensions before those of its argument, as few as possible."""
    start, sure = lead.start, lead.sure
    while lead.argument and start and front:
        if front[-1] != as_dim(ArgumentSize(lead.argument, start - 1)):
            break
        front.pop()
        start -= 1
        sure = None if sure is None else sure + 1
    if not start and not front:
        sure = None
    return Lead(lead.argument, lead.stop, start, tuple(front), sure)


def code_of(value: Value) -> tuple[str, str] | None:
    """Return an expression for a value and the home of its names; None where there is none."""
    match value:
        case Code(code=code, home=home):
            return code, home
        case Const(value=literal) if literal is not ...:
            text = repr(literal)
            return (f"({text})" if text.startswith("-") else text), ""
        case Size(dim=dim):
            return _code_of_size(dim)
        case Seq(items=items, is_list=is_list):
            return _code_of_items(items, is_list=is_list)
    return None


def _code_of_size(dim: Dim) -> tuple[str, str] | None:
    atoms = list(dim.atoms())
    homes = {atom.home if isinstance(atom, Piece) else None for atom in atoms}
    home = homes.pop() if len(homes) == 1 else None
    if home is None:
        return None
    simple = dim.atom is not None and not isinstance(dim.atom, Combined)
    return (dim.code() if simple else f"({dim.code()})"), home


def _code_of_items(items: tuple[Value, ...], *, is_list: bool) -> tuple[str, str] | None:
    codes = [code_of(item) for item in items]
    known = [code for code in codes if code is not None]
    home = common_home(home for _, home in known)
    if len(known) != len(codes) or home is None:
        return None
    inside = ", ".join(code for code, _ in known)
    if is_list:
        return f"[{inside}]", home
    return (f"({inside},)" if len(known) == 1 else f"({inside})"), home


def common_home(homes: Iterable[str]) -> str | None:
    """Return where all names of some expressions are bound; None where they differ.

    Expressions without names have no home of their own; the empty home is theirs too.
    """
    different = {home for home in homes if home}
    if len(different) > 1:
        return None
    return different.pop() if different else ""
