"""Keys by which static values are told apart: by type and value, so that 1, True and 1.0 differ."""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Iterable
from typing import Any

# Their value alone tells them apart from everything else, because every other key is a tuple.
_SELF_KEYED: frozenset[type] = frozenset(
    {str, bytes, type(None), type, types.FunctionType, types.BuiltinFunctionType, type(...)}
)


def _number_key(value: float) -> tuple[Any, ...]:
    if value == 0.0:  # -0.0 == 0.0
        return (type(value), value, math.copysign(1.0, value))
    # nan != nan, although it is the same static value.
    return (type(value), repr(value)) if value != value else (type(value), value)


def _complex_key(value: complex) -> tuple[Any, ...]:
    return (complex, _number_key(value.real), _number_key(value.imag))


def _tuple_key(value: tuple[Any, ...]) -> tuple[Any, ...]:
    return (type(value), *[static_key(item) for item in value])


def _frozenset_key(value: frozenset[Any]) -> tuple[Any, ...]:
    return (frozenset, frozenset([static_key(item) for item in value]))


_KEY_OF: dict[type, Callable[[Any], Any]] = {
    float: _number_key,
    complex: _complex_key,
    tuple: _tuple_key,
    frozenset: _frozenset_key,
}


def static_key(value: Any) -> Any:
    """Return a key that is equal for equal values of equal types.

    Hashing the key hashes the value, so a key of an unhashable value raises `TypeError` when it is
    hashed, not here.
    """
    kind = type(value)
    if kind in _SELF_KEYED:
        return value
    make = _KEY_OF.get(kind)
    if make is not None:
        return make(value)
    if isinstance(value, tuple):
        return _tuple_key(value)
    return (kind, value)


def content_key(value: Any) -> Any:
    """Return a key as `static_key` does, where lists, sets and dicts are told apart by content.

    It is the content of now; who changes it in place has to assign the attribute again.
    """
    kind = type(value)
    if kind is list or kind is tuple:
        return (kind, *[content_key(item) for item in value])
    if kind is set:
        return (set, frozenset([content_key(item) for item in value]))
    if kind is dict:
        return (dict, frozenset([(content_key(k), content_key(v)) for k, v in value.items()]))
    return static_key(value)


def is_hashable(value: Any) -> bool:
    """Whether ``hash(value)`` succeeds."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def first_unhashable(items: Iterable[tuple[Any, Any]]) -> tuple[Any, Any] | None:
    """Return the first (name, value) whose content has no hash, or None."""
    return next(((name, value) for name, value in items if not _has_key(value)), None)


def _has_key(value: Any) -> bool:
    try:
        hash(content_key(value))
    except TypeError:
        return False
    return True


def same_values(left: Any, right: Any) -> bool:
    """Whether two static values are the same, also where they have no hash or no clear ``==``."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same_values(left[k], right[k]) for k in left)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same_values, left, right))
    try:
        return bool(static_key(left) == static_key(right))
    except (TypeError, ValueError):  # an array says that its truth value is ambiguous
        return False
