"""A function under vmap, pmap or scan, with the axes of its parameters and results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from mypy.nodes import CallExpr, Context, Expression

from typed_nnx_mypy.call import Call
from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.syntax.axes import AxesRow, Axis, CarryAxis, Number, axes_of
from typed_nnx_mypy.syntax.transforms import PARTIAL, Transform, transform_of

MAPS: Final = ("vmap", "pmap", "jax.vmap", "jax.pmap")
SCAN: Final = "scan"
# Behind the function; all other transforms take them by name only.
_POSITIONS: Final = {("jax.vmap", "in_axes"): 1, ("jax.vmap", "out_axes"): 2}


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


def mapped_of(call: Call) -> Mapped | None:
    """Return the function that a call maps; None for other calls and for ``**options``."""
    transform = transform_of(call, *MAPS, SCAN)
    if transform is None or transform.has_stars:
        return None
    if call.name == PARTIAL and transform.function is None:
        return None  # more options may follow
    ins = _option(transform, "in_axes")
    outs = _option(transform, "out_axes")
    return Mapped(
        **vars(transform),
        ins=_axes(ins, transform, call),
        outs=_axes(outs, transform, call),
        gives_ins=ins is not None,
        gives_outs=outs is not None,
        called=_called_at_once(transform, call.checker),
    )


def _option(transform: Transform, name: str) -> Expression | None:
    return transform.option(name, _POSITIONS.get((transform.name, name)))


def _axes(given: Expression | None, transform: Transform, call: Call) -> Axis:
    if given is not None:
        return axes_of(given, call.checker)
    at: Context = call.node
    if transform.name == SCAN:
        return AxesRow(at, "tuple", (CarryAxis(at), Number(at)))
    return Number(at)


def _called_at_once(transform: Transform, checker: Checker) -> CallExpr | None:
    written = transform.written
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
