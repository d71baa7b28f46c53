"""What is known of the settings of a layer."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Final

from typed_nnx_codegen.migrate.linen.layers.answers import Given, Inputs
from typed_nnx_codegen.migrate.linen.running.values import (
    ANY_SHAPE,
    UNKNOWN,
    Array,
    Code,
    Const,
    Seq,
    Shape,
    Size,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim, Piece, as_dim


class Open:
    """A setting that is not literal."""


OPEN: Final = Open()
_SINGLE: Final = re.compile(
    r"(?:(?:jnp|np|onp|numpy|jax\.numpy)\.float32|(['\"])float32\1|None)", re.ASCII
)


def literal(given: Mapping[str, Given], name: str, default: object = None) -> object:
    """Return the literal that a setting has, its default where it is not given, else `OPEN`."""
    if name not in given:
        return default
    return literal_of(given[name].value)


def literal_of(value: Value) -> object:
    """Return a value as a Python object; `OPEN` where it is not literal."""
    match value:
        case Const(value=constant):
            return constant
        case Size(dim=dim) if dim.constant is not None:
            return dim.constant
        case Seq(items=items):
            found = tuple(literal_of(item) for item in items)
            return OPEN if OPEN in found else found
        case Table(items=entries):
            known = {key: literal_of(item) for key, item in entries.items()}
            return OPEN if OPEN in known.values() else known
    return OPEN


def size_of(value: Value | None) -> Dim | None:
    """Return a value as a size; None where it may be none."""
    match value:
        case Size(dim=dim):
            return dim
        case Const(value=int(number)) if not isinstance(number, bool):
            return as_dim(number)
        case Code(code=code, home=home):
            return as_dim(Piece(code, home))
    return None


def integers(found: object) -> tuple[int, ...] | None:
    """Return a literal as integers: one, or several; None where it is neither."""
    if isinstance(found, int) and not isinstance(found, bool):
        return (found,)
    if isinstance(found, tuple) and all(
        isinstance(item, int) and not isinstance(item, bool) for item in found
    ):
        return found
    return None


def shape_of(value: Value | None) -> Shape:
    """Return the shape of an array, as far as known."""
    return value.shape if isinstance(value, Array) else ANY_SHAPE


def argument(inputs: Inputs | None, name: str) -> Value:
    """Return what is known of an argument of the call."""
    return UNKNOWN if inputs is None else inputs.arguments.get(name, UNKNOWN)


def last_axis(inputs: Inputs | None, name: str) -> Dim | None:
    """Return the size of the last axis of an argument of the call."""
    return shape_of(argument(inputs, name)).axis(-1)


def with_last(shape: Shape, *dims: Dim | None) -> Shape:
    """Return a shape with other sizes in the place of its last one."""
    known = shape.expanded(1)
    if not known.dims:
        return ANY_SHAPE
    return Shape((*known.dims[:-1], *dims), known.lead)


def is_single_precision(given: Mapping[str, Given], name: str) -> bool:
    """Whether a dtype is not given, None or float32 for certain."""
    return name not in given or _SINGLE.fullmatch(given[name].code.strip()) is not None


def operand(code: str) -> str:
    """Return code that can stand before a dot."""
    return code if re.fullmatch(r"[\w.]+", code) else f"({code})"


def unless_none(given: Given, code: str) -> str:
    """Return code that is for an argument, or None where the argument is None.

    Args:
        given: The argument.
        code: What stands in its place where it is not None.
    """
    if isinstance(given.value, Array):
        return code
    if isinstance(parsed(given.code), ast.Call):
        # Calling twice could do something twice; a call that makes keys or masks makes some.
        return code
    return f"None if {operand(given.code)} is None else {code}"


def parsed(code: str) -> ast.expr | None:
    """Return an expression as a tree; None where it is none."""
    try:
        return ast.parse(f"({code}\n)", mode="eval").body
    except SyntaxError:
        return None
