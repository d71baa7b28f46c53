"""The checks of Pytree attributes: no array in a static place, no annotation where it is lost."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from typed_nnx._core.fields import flax_object_in, has_data, is_data, marks_in
from typed_nnx.errors import (
    DataInStaticError,
    ForeignAttributeError,
    MisplacedMarkError,
    StaticAttributeError,
    StaticMarkError,
    UnexpectedDataError,
)

# Values of these types hold neither arrays nor annotations.
_INNOCENT: frozenset[type] = frozenset(
    {
        str, int, bool, float, complex, bytes, type, type(None), type(...),
        types.FunctionType, types.BuiltinFunctionType, types.MethodType,
    }
)  # fmt: skip


def needs_no_check(value: Any) -> bool:
    """Whether a value of this type can hold neither data nor an annotation."""
    return type(value) in _INNOCENT


def decide_status(
    node: Any, name: str, value: Any, mark: bool | None, declared: bool | None, current: bool | None
) -> bool:
    """Return whether an attribute becomes data, or raise if it must not have this value.

    Args:
        node: The Pytree.
        name: The attribute.
        value: The new value, without annotation.
        mark: What an annotation at the assignment says.
        declared: What the class declares.
        current: What the attribute is now.
    """
    innocent = needs_no_check(value)
    holder = type(node)
    if not innocent and not is_data(value):
        _check_inside(holder, name, value)
    if mark is not None:
        if not mark and not innocent and has_data(value):
            raise StaticMarkError(holder, name, value)
        return mark
    if declared is not None:
        if not declared and not innocent and has_data(value):
            raise UnexpectedDataError(holder, name, value)
        return declared
    if current:
        return True
    if innocent:
        return False
    if is_data(value):
        if current is False:
            raise StaticAttributeError(holder, name, value)
        return True
    found = has_data(value)
    if found:
        raise DataInStaticError(holder, name, value, [type(leaf).__name__ for leaf in found])
    return False


def _check_inside(holder: type, name: str, value: Any) -> None:
    """Raise where a value holds annotations, or something of flax.nnx."""
    marks = marks_in(value)
    if marks:
        raise MisplacedMarkError(holder, name, value, {found.name for found in marks})
    foreign = flax_object_in(value)
    if foreign is not None:
        raise ForeignAttributeError(holder, name, foreign)


def check_attributes(
    node: Any, attributes: Mapping[str, Any], statuses: Mapping[str, bool]
) -> None:
    """Check all attributes of a Pytree: mutation may have put data into a static container."""
    for name, value in attributes.items():
        if needs_no_check(value) or is_data(value):
            continue
        _check_inside(type(node), name, value)
        if not statuses.get(name, True) and has_data(value):
            raise UnexpectedDataError(type(node), name, value)
