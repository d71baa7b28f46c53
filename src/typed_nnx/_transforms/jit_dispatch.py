"""The quick way through a jitted call: cached records in, changed values out.

It takes calls whose arguments are objects without shared parts, arrays and numbers, also in plain
containers, and leaves all others to the general way, by returning None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from typed_nnx._core.nodes import LEAF, OBJECT, REFERENCE, kind_of
from typed_nnx._core.trace import context
from typed_nnx._graph.record import Record, record_of
from typed_nnx._transforms.gather import are_disjoint, raw_values
from typed_nnx._transforms.signature import Effects

# What to do with an argument, by its type.
PLAIN = 0
OBJECTS = 1
CONTAINER = 2
OTHER = 3

_codes: dict[type, int] = dict.fromkeys((int, float, bool, complex), PLAIN)


def code_of(value: Any) -> int:
    """Return what to do with an argument of a type that was not seen before."""
    cls = type(value)
    kind = kind_of(value)
    is_plain = kind in (LEAF, REFERENCE) or value is None
    if is_plain:
        code = PLAIN
    elif kind == OBJECT:
        code = OBJECTS
    else:
        code = CONTAINER if cls in (list, dict) or issubclass(cls, tuple) else OTHER
    if len(_codes) > 1000:  # classes come and go
        _codes.clear()
    _codes[cls] = code
    return code


class Gathered(NamedTuple):
    """The arguments of a call, taken apart the quick way.

    Attributes:
        key: What the signature depends on.
        values: The arguments with lists of values in the place of objects.
        records: The records of the objects.
    """

    key: tuple[Any, ...]
    values: list[Any]
    records: list[Record]


def gather(args: Sequence[Any], statics: frozenset[int]) -> Gathered | None:
    """Take positional arguments apart; None if the general way is needed."""
    key: list[Any] = []
    values: list[Any] = []
    records: list[Record] = []
    for arg in args:
        code = _codes.get(type(arg))
        if code is None:
            code = code_of(arg)
        if code == PLAIN or (statics and len(key) in statics):
            key.append(None)
            values.append(arg)
        elif code == OBJECTS:
            record: Record | None = arg._nnx_record
            if (
                record is None
                or not (cell := record.cell).valid
                or cell.dirty
                or (record.watch is not None and not record.watch.holds())
            ):
                record = record_of(arg)
                cell = record.cell
            token = record.graphdef.token
            if token is None:
                return None
            key.append(token)
            values.append(cell.values or read(record))
            for other in records:
                if not are_disjoint(other, record):
                    return None
            records.append(record)
        elif code == CONTAINER and _is_plain(arg):
            key.append(None)
            values.append(arg)
        else:
            return None
    return _gathered(Gathered, (tuple(key), values, records))


def _is_plain(container: Any) -> bool:
    """Whether a container holds arrays, numbers and containers of them, such as a batch."""
    for item in container.values() if type(container) is dict else container:
        code = _codes.get(type(item))
        if code is None:
            code = code_of(item)
        if code != PLAIN and not (code == CONTAINER and _is_plain(item)):
            return False
    return True


# What a NamedTuple's own constructor does, less a call in Python.
_gathered = tuple.__new__


def write(records: Sequence[Record], effects: Effects, updates: Sequence[list[Any]]) -> bool:
    """Write changed values into the Variables; False if the general way is needed."""
    trace = context.trace
    for record, changed in zip(records, effects.changed, strict=True):
        if changed and (record.has_slots or record.common_trace() is not trace):
            return False
    for record, changed, new in zip(records, effects.changed, updates, strict=True):
        if changed:
            _write(record, effects, changed, new)
    return True


def read(record: Record) -> list[Any]:
    """Return the raw values of the leaves, and cache them."""
    if record.has_slots:
        return raw_values(record)
    # Known before it is filled: a write by another thread meanwhile drops it.
    values: list[Any] = []
    record.cell.values = values
    found = raw_values(record)
    values.extend(found)
    return found


def _write(record: Record, effects: Effects, changed: Sequence[int], new: list[Any]) -> None:
    known, target = record.targets
    if known is not effects:
        target = Target(record, changed)
        record.targets = (effects, target)
    target.write(new)


class Target:
    """The Variables of one record that a call changes; good as long as the record."""

    __slots__ = ("_boxes", "_cell", "_changed", "_leaves", "_size")

    def __init__(self, record: Record, changed: Sequence[int]) -> None:
        leaves: Any = record.leaves
        self._cell = record.cell
        self._size = len(leaves)
        self._changed = None if len(changed) == len(leaves) else changed
        self._leaves = [leaves[number] for number in changed]
        self._boxes = [leaf._flat[0] for leaf in self._leaves]

    def write(self, new: list[Any]) -> None:
        """Write values."""
        cell, changed = self._cell, self._changed
        # As in `read`: known before it is filled, so that other threads can drop it.
        values = cell.values
        if changed is None:
            cell.values = values = []
        for box, value in zip(self._boxes, new, strict=True):
            box[0] = value
        if cell.shared:
            for variable in self._leaves:
                for other in variable._nnx_cells:
                    if other is not cell:
                        other.values = None
        # In place: if another thread wrote meanwhile, the list is not the cached one any more.
        if changed is None:
            values.extend(new)  # type: ignore[union-attr]  # a list, made above
        elif values and len(values) == self._size:
            for number, value in zip(changed, new, strict=True):
                values[number] = value
        else:
            cell.values = None
