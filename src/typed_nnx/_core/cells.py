"""Which cached records an object belongs to, and how it tells them that it changed.

A record owns a `Cell`, and every object under the record's root keeps the cell. The cell holds
nothing but a flag and a weak reference to the root, so an object that outlives its model does not
keep the model alive.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import threading
import types
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import jax
import numpy as np

K = TypeVar("K")
V = TypeVar("V")


class Bounded(dict[K, V], Generic[K, V]):
    """A cache of at most `most` entries that forgets what was not asked for in the longest time.

    It has two halves, this dict and an older one. ``cache[key]`` finds what is in the younger half at
    the speed of a dict, brings what is in the older one back, and is None for what is in neither.
    """

    __slots__ = ("_half", "_older")

    def __init__(self, most: int = 4096) -> None:
        self._half = most // 2 or 1
        self._older: dict[K, V] | None = None

    if TYPE_CHECKING:

        def __getitem__(self, key: K, /) -> V | None: ...  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]  # as `__missing__` says

    def __missing__(self, key: K) -> V | None:
        older = self._older
        found = None if older is None else older.get(key)
        return None if found is None else self.add(key, found)

    def add(self, key: K, value: V) -> V:
        """Keep a value and return it; if another thread kept one for the key first, return that."""
        if len(self) >= self._half:
            self._older = self.copy()
            super().clear()
        return self.setdefault(key, value)

    def all_values(self) -> list[V]:
        """Return what is kept, in both halves."""
        older = self._older or {}
        return [*older.values(), *[v for k, v in self.items() if k not in older]]

    def clear(self) -> None:
        super().clear()
        self._older = None


# One thread at a time describes objects, builds and patches records, changes structures and writes
# what a transform returned. Held for microseconds; reading a value and replacing one go without.
graph_lock = threading.RLock()
# Where every step counts: a `with` statement takes twice as long.
acquire, release = graph_lock.acquire, graph_lock.release


class Cell:
    """The validity of one record.

    Attributes:
        valid: False once something structural below the root changed; never True again.
        dirty: Positions of the nodes and Variables of which only static values changed.
        root: A weak reference to the root object, which keeps the record.
        values: The raw values of the record's leaves, dropped by any write to one of them.
        shared: Whether some object is in another record too.
    """

    __slots__ = ("dirty", "root", "shared", "valid", "values")

    def __init__(self, root: weakref.ref[Any]) -> None:
        self.valid = True
        self.dirty: set[int] = set()
        self.root = root
        self.values: list[Any] | None = None
        self.shared = False

    def record(self) -> Any:
        """Return the record, or None if nobody listens any more."""
        root = self.root()
        record = None if root is None else root._nnx_record
        return record if record is not None and record.cell is self else None

    def alive(self) -> bool:
        return self.valid and self.record() is not None

    def invalidate(self) -> None:
        """Make the root forget the record, which may hold what was just removed."""
        record, self.valid = self.record(), False
        self.values = None
        if record is not None:
            root = self.root()
            if root is not None:
                object.__setattr__(root, "_nnx_record", None)  # not through what a class defines


# All objects that belong to one record only share one tuple.
Membership: TypeAlias = tuple[Cell, ...]


def joined(cells: Membership, own: Membership) -> Membership:
    """Return both memberships, without those that nobody listens to.

    Another thread may be about to write through a record that nobody listens to any more: its cell
    learns too that it is not the only one.
    """
    living = [cell for cell in cells if cell.alive()]
    for cell in (*cells, *own) if living else cells:
        cell.shared = True
    return (*living, *own)


def mark_structure(cells: Membership) -> None:
    """Say that an object gained, lost or replaced a node, Variable or container."""
    for cell in cells:
        if cell.valid:
            cell.invalidate()


def mark_static(cells: Membership, changed: object) -> None:
    """Say that only static values or metadata of an object changed."""
    for cell in cells:
        record = cell.record()
        if record is not None:
            cell.dirty.add(record.index[id(changed)])


# Their value alone tells them apart from everything else, because every other key is a tuple.
_SELF_KEYED: frozenset[type] = frozenset(
    {str, bytes, type(None), type, types.FunctionType, types.BuiltinFunctionType, type(...)}
)

_HASHED = _SELF_KEYED | {int, bool, float, complex}


def _number_key(value: float) -> tuple[Any, ...]:
    if value == 0.0:  # -0.0 == 0.0
        return (type(value), value, math.copysign(1.0, value))
    # nan != nan, although it is the same static value.
    return (type(value), repr(value)) if value != value else (type(value), value)


def _tuple_key(value: tuple[Any, ...]) -> tuple[Any, ...]:
    return (type(value), *[static_key(item) for item in value])


_KEY_OF: dict[type, Callable[[Any], Any]] = {
    float: _number_key,
    complex: lambda value: (complex, _number_key(value.real), _number_key(value.imag)),
    tuple: _tuple_key,
    frozenset: lambda value: (frozenset, frozenset([static_key(item) for item in value])),
}


def static_key(value: object) -> Any:
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
    """Return a hashable key that tells static values apart by type and content, as it is now.

    Equal for values that are equal, also where they have no hash: lists, dicts and sets by what they
    hold, dataclasses by their fields, everything else by a copy and ``==``.
    """
    kind = type(value)
    if kind in _SELF_KEYED:
        return value
    if kind is int or kind is bool:
        return (kind, value)
    if kind is list or isinstance(value, tuple):
        return (kind, *[content_key(item) for item in value])
    if kind is set:
        return (set, frozenset([content_key(item) for item in value]))
    if kind is dict:
        return (dict, frozenset([(content_key(k), content_key(v)) for k, v in value.items()]))
    if kind in _KEY_OF:
        return static_key(value)
    if is_hashable(value):
        return (kind, value)
    fields = _compared_fields(kind)
    if fields is not None:
        return (kind, *[content_key(getattr(value, name)) for name in fields])
    return EqualityKey(value)


def _compared_fields(kind: type) -> list[str] | None:
    """Return the fields that the ``==`` of a dataclass compares; None if it is not a generated one."""
    if not dataclasses.is_dataclass(kind):
        return None
    code = getattr(kind.__eq__, "__code__", None)
    if code is None or code.co_filename != "<string>":
        return None
    return [field.name for field in dataclasses.fields(kind) if field.compare]


class EqualityKey:
    """The key of a value that has an ``==`` but no hash: all such values of a type share a bucket.

    It holds a copy, so that a change of the value in place does not change the key.
    """

    __slots__ = ("kind", "value")

    def __init__(self, value: Any) -> None:
        self.kind = type(value)
        self.value: Any = value
        if isinstance(value, jax.Array):
            return  # immutable
        try:
            made = copy.deepcopy(value)
        except Exception:  # noqa: BLE001 -- whatever the class raises: it cannot be copied
            return
        if same_values(made, value):
            self.value = made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EqualityKey) and same_values(self.value, other.value)

    def __hash__(self) -> int:
        return hash(self.kind)


def is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def mutable_values(values: Iterable[Any]) -> tuple[tuple[Any, Any], ...]:
    """Return those of some static values that may change in place, each with its content key.

    Who has a hash promises that it stays, as jax and Python take it.
    """
    mutable = [v for v in values if type(v) not in _HASHED and not is_hashable(v)]
    return tuple([(value, content_key(value)) for value in mutable])


def first_unhashable(items: Iterable[tuple[Any, Any]]) -> tuple[Any, Any] | None:
    """Return the first (name, value) whose content has no hash, or None."""
    return next(((name, value) for name, value in items if _is_loose(content_key(value))), None)


def _is_loose(key: object) -> bool:
    """Whether a key compares some part of a value by its ``==``."""
    if isinstance(key, tuple | frozenset):
        return any(map(_is_loose, key))
    return isinstance(key, EqualityKey)


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
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right)
    try:
        return bool(static_key(left) == static_key(right))
    except (TypeError, ValueError):  # an array says that its truth value is ambiguous
        return False
