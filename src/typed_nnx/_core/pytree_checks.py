"""The checks of Pytree attributes: no array in a static place, no annotation where it is lost."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from typed_nnx._core.fields import Mark, contents_of, flax_kinds, is_data
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
    holder = type(node)
    innocent = needs_no_check(value)
    is_child = not innocent and is_data(value)
    inside = [] if innocent or is_child else _data_inside(holder, name, value)
    if mark is not None:
        if not mark and (is_child or inside):
            raise StaticMarkError(holder, name, value)
        return mark
    if declared is not None:
        if not declared and (is_child or inside):
            raise UnexpectedDataError(holder, name, value)
        return declared
    if current:
        return True
    if is_child and current is False:
        raise StaticAttributeError(holder, name, value)
    if inside:
        raise DataInStaticError(holder, name, value, [type(leaf).__name__ for leaf in inside])
    return is_child


def _data_inside(holder: type, name: str, value: Any) -> list[Any]:
    """Return the data inside a value; raise where it holds annotations, or something of flax.nnx."""
    data: list[Any] = []
    kinds = flax_kinds()
    leaves = contents_of(value)
    marks = {leaf.name for leaf in leaves if isinstance(leaf, Mark)}
    if marks:
        raise MisplacedMarkError(holder, name, value, marks)
    for leaf in leaves:
        if isinstance(leaf, kinds):
            raise ForeignAttributeError(holder, name, leaf)
        if is_data(leaf):
            data.append(leaf)
    return data


def check_attributes(
    node: Any, attributes: Mapping[str, Any], statuses: Mapping[str, bool]
) -> None:
    """Check attributes again after construction: later changes to containers went past assignment."""
    for name, value in attributes.items():
        if needs_no_check(value) or is_data(value):
            continue
        if _data_inside(type(node), name, value) and not statuses.get(name, True):
            raise UnexpectedDataError(type(node), name, value)
