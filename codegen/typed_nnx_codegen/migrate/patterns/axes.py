"""The axes that a transform maps over: how older programs gave them, and how it is written now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import is_name, is_repeatable
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.transform_calls import TransformCall

ZERO: Final = cst.Integer("0")
NONE: Final = cst.Name("None")


class CannotTell(Exception):
    """The axes cannot be translated; the message says why."""


@dataclass(frozen=True)
class Split:
    """Which random keys are split.

    Attributes:
        is_on: Whether any are.
        only: The filter of those that are; None for all.
        count: Into how many; None where the call does not say.
    """

    is_on: bool
    only: cst.BaseExpression | None
    count: cst.BaseExpression | None


@dataclass(frozen=True)
class Axis:
    """The axis of what a filter takes: an item of ``state_axes``."""

    filter: cst.BaseExpression
    axis: cst.BaseExpression

    @property
    def is_rest(self) -> bool:
        """Whether the filter takes everything."""
        return isinstance(self.filter, cst.Ellipsis)


def split_of(transform: TransformCall) -> Split:
    """Return which keys a transform splits.

    Raises:
        CannotTell: That is computed.
    """
    sized = transform.keyword("axis_size") or transform.keyword("length")
    count = sized.value if sized is not None and is_repeatable(sized.value) else None
    given = transform.keyword("split_rngs")
    if given is None or isinstance(given.value, cst.Ellipsis) or is_name(given.value, "True"):
        return Split(True, None, count)
    if is_name(given.value, "False") or is_name(given.value, "None"):
        return Split(False, None, None)
    if isinstance(given.value, (cst.Dict, cst.Tuple, cst.List)) and not given.value.elements:
        return Split(False, None, None)
    if not isinstance(given.value, (cst.SimpleString, cst.Attribute, cst.Name, cst.Tuple)):
        raise CannotTell("which keys are split is computed")
    if isinstance(given.value, cst.Name) or not is_repeatable(given.value):
        raise CannotTell("which keys are split cannot be seen here")
    return Split(True, given.value, count)


def axes_of(file: File, transform: TransformCall) -> list[Axis]:
    """Return the axes of the state of Modules, in the order in which filters take it.

    Raises:
        CannotTell: They are computed, or are given in a way that has no translation.
    """
    given = transform.keyword("state_axes")
    older = transform.keyword("variable_axes")
    if given is None and older is None:
        return [Axis(cst.Ellipsis(), ZERO)]
    if given is not None:
        return _items(given.value)
    assert older is not None
    found = _items(older.value)
    for keyword, axis in (("variable_broadcast", NONE), ("variable_carry", None)):
        filters = transform.keyword(keyword)
        if filters is None or is_name(filters.value, "None"):
            continue
        if not is_repeatable(filters.value):
            raise CannotTell(f"`{keyword}` is computed")
        found.append(Axis(filters.value, axis or file.refer("nnx.Carry")))
    if not any(one.is_rest for one in found):
        # What no filter took was broadcast by vmap and carried by scan.
        rest = file.refer("nnx.Carry") if transform.name == "nnx.scan" else NONE
        found.append(Axis(cst.Ellipsis(), rest))
    return sorted(found, key=lambda one: one.is_rest)


def _items(node: cst.BaseExpression) -> list[Axis]:
    if not isinstance(node, cst.Dict):
        raise CannotTell("the axes are computed")
    found: list[Axis] = []
    for element in node.elements:
        if not isinstance(element, cst.DictElement):
            raise CannotTell("the axes are computed")
        if not is_repeatable(element.key) or not is_repeatable(element.value):
            raise CannotTell("the axes are computed")
        found.append(Axis(element.key, element.value))
    return found


def with_keys(file: File, axes: list[Axis], split: Split, holds_keys: bool | None) -> list[Axis]:
    """Return axes with those of the random keys: older transforms treated them on their own."""
    if holds_keys is False:
        return axes
    keys = Axis(file.refer("nnx.RngState"), ZERO if split.is_on and split.only is None else NONE)
    added = [keys]
    if split.only is not None:
        added.insert(0, Axis(split.only, ZERO))
    rest = next((one for one in axes if one.is_rest), None)
    while added and rest is not None and _same(rest.axis, added[-1].axis):
        added.pop()
    return [*added, *axes]


def axis_expression(file: File, axes: list[Axis]) -> cst.BaseExpression:
    """Return the axes as an entry of ``in_axes``: one axis, or a ``nnx.StateAxes``."""
    if all(_same(one.axis, axes[0].axis) for one in axes) and any(one.is_rest for one in axes):
        return axes[0].axis
    elements = [cst.DictElement(one.filter, one.axis) for one in axes]
    return file.call("nnx.StateAxes", cst.Dict(elements))


def _same(one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
    return one.deep_equals(other)
