"""Functions under vmap, pmap and scan, with the axes of their parameters and results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from mypy import nodes, types
from mypy.nodes import CallExpr, Context, Expression, RefExpr
from mypy.types import Instance

from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.constants import Value, constant_of, resolved
from typed_nnx_codegen.facts.names import PARTIAL, is_named
from typed_nnx_mypy.syntax.transforms import Transform

MAPS: Final = ("vmap", "pmap", "jax.vmap", "jax.pmap")
SCAN: Final = "scan"
# Behind the function; all other transforms take them by name only.
_POSITIONS: Final = {("jax.vmap", "in_axes"): 1, ("jax.vmap", "out_axes"): 2}

_DEPTH: Final = 4


@dataclass(frozen=True)
class Axis:
    """What is written for a parameter or a result, and where."""

    at: Context


class UnknownAxis(Axis):
    """An axis of which nothing is known."""


class Number(Axis):
    """An axis."""


class NoAxis(Axis):
    """None: the same along the axis."""


class CarryAxis(Axis):
    """``nnx.Carry``."""


@dataclass(frozen=True)
class WrongAxis(Axis):
    """What is no axis: a str, a float, a bool.

    Attributes:
        kind: Its type, for messages.
        is_in_filters: Whether it stands in StateAxes, which are looked at where they are made.
    """

    kind: str
    is_in_filters: bool = False


@dataclass(frozen=True)
class AxesByFilter(Axis):
    """``nnx.StateAxes(...)``.

    Attributes:
        pairs: The filters as they are written, with the axes; None where they are not known.
    """

    pairs: tuple[tuple[Expression, Axis], ...] | None


@dataclass(frozen=True)
class AxesRow(Axis):
    """A tuple or list of axes.

    Attributes:
        kind: "tuple" or "list".
        items: The axes.
    """

    kind: str
    items: tuple[Axis, ...]


def axes_of(
    expression: Expression, checker: Checker, *, at: Expression | None = None, depth: int = _DEPTH
) -> Axis:
    """Return what an option for axes says.

    Args:
        expression: What is written.
        checker: The type checker of the file.
        at: The name that stands for it, where it is to be reported.
        depth: How many rows may be inside each other.
    """
    found = resolved(expression, checker)
    if found is not expression:
        at = at or expression

    def inner(each: Expression) -> Axis:
        return axes_of(each, checker, at=at, depth=depth - 1)

    place = at or expression
    match found:
        case nodes.TupleExpr(items=items) | nodes.ListExpr(items=items) if depth:
            if any(isinstance(each, nodes.StarExpr) for each in items):
                return UnknownAxis(place)
            kind = "tuple" if isinstance(found, nodes.TupleExpr) else "list"
            return AxesRow(place, kind, tuple(map(inner, items)))
        case CallExpr(callee=RefExpr(fullname=name)) if is_named(name, "StateAxes"):
            pairs = _pairs(found)
            if pairs is None:
                return AxesByFilter(place, None)
            return AxesByFilter(place, tuple((key, _in_filters(inner(e))) for key, e in pairs))
        case RefExpr(fullname=name) if is_named(name, "Carry"):
            return CarryAxis(place)
        case _:
            constant = constant_of(expression, checker)
            if constant is not None:
                return _of_value(constant.value, place)
            return _of_type(checker.type_of(expression), place)


def _pairs(call: CallExpr) -> list[tuple[Expression, Expression]] | None:
    """Return the filters and axes of StateAxes as they are written; None where they are not."""
    match call.args, call.arg_kinds:
        case [nodes.DictExpr(items=items)], [nodes.ARG_POS]:
            pairs = [(key, each) for key, each in items if key is not None]
        case [nodes.ListExpr(items=items) | nodes.TupleExpr(items=items)], [nodes.ARG_POS]:
            rows = [each.items for each in items if isinstance(each, nodes.TupleExpr)]
            pairs = [(row[0], row[1]) for row in rows if len(row) == 2]
        case _:
            return None
    return pairs if len(pairs) == len(items) else None


def _of_value(value: Value, at: Expression) -> Axis:
    match value:
        case None:
            return NoAxis(at)
        case bool() | float() | str():
            return WrongAxis(at, type(value).__name__)
        case int():
            return Number(at)
        case tuple():
            return AxesRow(at, "tuple", tuple(_of_value(each, at) for each in value))


def _of_type(found: types.ProperType, at: Expression) -> Axis:
    match found:
        case Instance() if is_named(found.type.fullname, "StateAxes"):
            return AxesByFilter(at, None)
        case Instance() if found.type.fullname == "builtins.int":
            return Number(at)
        case _:
            return UnknownAxis(at)


def _in_filters(axis: Axis) -> Axis:
    return replace(axis, is_in_filters=True) if isinstance(axis, WrongAxis) else axis


def parts_of(axis: Axis) -> Iterator[Axis]:
    """Yield an axis and all that are in it."""
    yield axis
    match axis:
        case AxesRow():
            inner = axis.items
        case AxesByFilter():
            inner = tuple(each for _, each in axis.pairs or ())
        case _:
            return
    for each in inner:
        yield from parts_of(each)


# -- functions under vmap, pmap or scan -------------------------------------------------------------


@dataclass(frozen=True)
class Mapped(Transform):
    """A function under vmap, pmap or scan.

    Attributes:
        ins, outs: What ``in_axes`` and ``out_axes`` say, or their defaults.
        gives_ins, gives_outs: Whether they are written.
        called: The call of the result, where it is called at once: ``nnx.vmap(f)(x)``.
    """

    ins: Axis = field(kw_only=True)
    outs: Axis = field(kw_only=True)
    gives_ins: bool = field(kw_only=True)
    gives_outs: bool = field(kw_only=True)
    called: CallExpr | None = field(kw_only=True)

    @property
    def is_scan(self) -> bool:
        """Whether the transform is scan."""
        return self.name == SCAN

    @property
    def is_jax(self) -> bool:
        """Whether it is a transform of jax itself, which maps keyword arguments over axis 0."""
        return self.runtime == "jax"


def mapped_of(transform: Transform) -> Mapped | None:
    """Return the function that a transform maps; None where there may be more options."""
    if transform.has_stars:
        return None
    if transform.call.name == PARTIAL and transform.function is None:
        return None
    ins = _option(transform, "in_axes")
    outs = _option(transform, "out_axes")
    return Mapped(
        **vars(transform),
        ins=_axes(ins, transform),
        outs=_axes(outs, transform),
        gives_ins=ins is not None,
        gives_outs=outs is not None,
        called=_called_at_once(transform),
    )


def _option(transform: Transform, name: str) -> Expression | None:
    return transform.option(name, _POSITIONS.get((transform.name, name)))


def _axes(given: Expression | None, transform: Transform) -> Axis:
    if given is not None:
        return axes_of(given, transform.checker)
    at: Context = transform.call.node
    if transform.name == SCAN:
        return AxesRow(at, "tuple", (CarryAxis(at), Number(at)))
    return Number(at)


def _called_at_once(transform: Transform) -> CallExpr | None:
    written, checker = transform.written, transform.checker
    if written is None or transform.given is None:
        return None
    made: CallExpr = written
    if all(each is not transform.given for each in written.args):
        parent = checker.parent(written)  # `nnx.vmap(in_axes=0)(f)`
        if not isinstance(parent, CallExpr):
            return None
        made = parent
    parent = checker.parent(made)
    return parent if isinstance(parent, CallExpr) and parent.callee is made else None
