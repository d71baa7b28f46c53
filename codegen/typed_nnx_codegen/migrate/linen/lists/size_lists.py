"""Lists of arrays whose sizes the constructor has: what stands for them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.plan import Condition, Site
from typed_nnx_codegen.migrate.linen.running.frames import Frame
from typed_nnx_codegen.migrate.linen.running.references import Repeated
from typed_nnx_codegen.migrate.linen.running.values import (
    Array,
    Const,
    Lead,
    Seq,
    Shape,
    Value,
)
from typed_nnx_codegen.migrate.linen.sizes.dims import ItemSize, as_dim
from typed_nnx_codegen.migrate.linen.writing.constructor_code import ConstructorCode

_JOINING: Final = ("jax.numpy.concatenate", "jax.numpy.concat", "numpy.concatenate")
# An item of a list of which nothing else is known.
ARRAY: Final = Array(Shape((), Lead("", None)))
_SUFFIX: Final = re.compile(r"_(features|sizes)(_\d+)?$")


@dataclass(frozen=True)
class SizedList(Repeated):
    """A list of arrays whose last sizes a local of the constructor has, in the same order.

    Attributes:
        local: The local.
        loops: The loops around what it is called with, where it is kept for that.
        conditions: The branches around that.
    """

    local: str = ""
    loops: tuple[int, ...] = ()
    conditions: tuple[Condition, ...] = ()

    @property
    def base(self) -> str:
        """The name of the list, for locals with sizes of its items."""
        return _SUFFIX.sub("", self.local)

    @property
    def sizes(self) -> str:
        """The expression for the sizes as they are now; empty where an iteration goes on."""
        return self.local

    def is_seen_by(self, site: Site) -> bool:
        """Whether its sizes are there where a submodule is constructed."""
        loops, conditions = len(self.loops), len(self.conditions)
        return site.loops[:loops] == self.loops and site.conditions[:conditions] == self.conditions


@dataclass(frozen=True)
class CodedList(SizedList):
    """A list of arrays whose last sizes an expression says, not a local.

    Attributes:
        code: The expression, a template.
    """

    code: str = ""

    @property
    def sizes(self) -> str:
        """The expression for the sizes."""
        return self.code


@dataclass(frozen=True)
class RunningList(CodedList):
    """A list of arrays in an iteration of a loop over submodules.

    Attributes:
        code: The expression for the sizes that it has now, over what `local` is when an iteration
            begins.
        depth: How many branches there are around the loop.
    """

    code: str = field(default="", compare=False)
    depth: int = 0

    @property
    def sizes(self) -> str:
        """Nothing: what it is now is no more when the iteration ends."""
        return ""


def is_followed(frame: Frame) -> bool:
    """Whether the constructor goes along, or does so where it makes the submodules of a loop."""
    recorder = frame.recorder
    return (
        frame.records
        and not frame.verbatim
        and 0 not in recorder.call_loops
        and not recorder.pending
        and not any(one.is_of_call for one in recorder.conditions)
    )


def last_size(code: ConstructorCode, value: Value, frame: Frame) -> str | None:
    """Return the code of the last size of an array; None where it cannot be said."""
    size = value.shape.axis(-1) if isinstance(value, Array) else None
    if size is None or not code.sizes_are_visible(size, frame):
        return None
    return frame.recorder.templates.token(size)


def is_joined_last(name: str, value: SizedList, node: cst.Call, frame: Frame) -> bool:
    """Whether a call joins the arrays of a list along their last axis."""
    axis = _axis(node, frame) if name in _JOINING else None
    rank = value.element.shape.rank if isinstance(value.element, Array) else None
    return axis is not None and (axis == -1 or axis + 1 == rank)


def _axis(node: cst.Call, frame: Frame) -> int | None:
    for position, arg in enumerate(node.args):
        is_axis = arg.keyword.value == "axis" if arg.keyword is not None else position == 1
        if is_axis:
            value = frame.seen(arg.value)
            known = value.value if isinstance(value, Const) else None
            return known if isinstance(known, int) else None
    return 0


def with_last(value: Value, code: str, home: str = "") -> Array:
    """Return an item of a list with the expression for its last size."""
    shape = value.shape if isinstance(value, Array) else Shape((), Lead("", None))
    shape = shape.expanded(1)
    return Array(Shape((*shape.dims[:-1], as_dim(ItemSize(code, home))), shape.lead))


def arrays_in(value: Value) -> tuple[Value, ...] | None:
    """Return the arrays of a list; None where it holds something else."""
    items: tuple[Value, ...]
    match value:
        case Seq(items=items):
            pass
        case Repeated(element=element):
            items = (element,)
        case _:
            return None
    return items if all(isinstance(item, Array) for item in items) else None


def any_item(element: Value, values: Value) -> Value:
    """Return what any item of a list stands for to whatever takes them all: it has one size.

    Args:
        element: The item, as far as nothing else is known.
        values: The list.
    """
    sizes = values.sizes if isinstance(values, SizedList) else ""
    return with_last(element, f"{sizes}[0]") if sizes.isidentifier() else element


def local_for(
    name: str, suffix: str, place: cst.CSTNode, frame: Frame, loop: int | None = None
) -> str:
    """Return the local for a size at a place: the same one each time that it is gone through."""
    known = frame.recorder.sized_names
    key = (place, f"{name}_{suffix}", loop)
    if key not in known:
        known[key] = frame.recorder.fresh(f"{name}_{suffix}")
    return known[key]
