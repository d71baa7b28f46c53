"""The quick way through a jitted call: cached records in, changed values out.

It takes calls whose arguments are objects without shared parts, arrays and numbers, also in plain
containers, and leaves all others to the general way, by returning None.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax

from typed_nnx._core.bounded import Bounded
from typed_nnx._core.cells import graph_lock
from typed_nnx._core.nodes import LEAF, OBJECT, REFERENCE, STATIC, kind_of
from typed_nnx._core.trace import context
from typed_nnx._graph.record import Record, record_of
from typed_nnx._transforms.gather import Place, are_disjoint, holds_objects, read
from typed_nnx._transforms.signature import Effects, Signature

# What to do with an argument, by its type.
PLAIN = 0
OBJECTS = 1
CONTAINER = 2
OPAQUE = 3  # nothing for jax: a text, a function, a configuration
OTHER = 4

_codes: Bounded[type, int] = Bounded(2048)  # classes come and go


def code_of(value: Any) -> int:
    """Return what to do with an argument of a type that was not seen before."""
    cls = type(value)
    kind = kind_of(value)
    if kind in (LEAF, REFERENCE) or cls in (int, float, bool, complex, type(None)):
        code = PLAIN
    elif kind == OBJECT:
        code = OBJECTS
    elif kind == STATIC:
        code = OPAQUE
    else:
        code = CONTAINER if cls in (list, dict, tuple) or _holds_its_items(value) else OTHER
    return _codes.add(cls, code)


def _holds_its_items(value: Any) -> bool:
    """Whether a value is a namedtuple whose children for jax are its items."""
    if not isinstance(value, tuple) or not hasattr(value, "_fields"):
        return False
    children = jax.tree.leaves(value, is_leaf=lambda child: child is not value)
    return len(children) == len(value) and all(map(operator.is_, children, value))


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

    def places(self, args: Sequence[Any], signature: Signature) -> list[Place]:
        """Return where the values of each part live, as `Lift.gather` does.

        Args:
            args: The arguments.
            signature: What is static about the call.
        """
        objects = [number for number, token in enumerate(self.key) if token is not None]
        found = zip(objects, self.records, signature.parts, strict=True)
        return [
            Place(args[number], record, part.path, part.prefix, part.kept, self.values[number])
            for number, record, part in found
        ]


def gather(args: Sequence[Any], statics: frozenset[int]) -> Gathered | None:
    """Take positional arguments apart; None if the general way is needed."""
    key: list[Any] = []
    values: list[Any] = []
    records: list[Record] = []
    for arg in args:
        code = _codes[type(arg)]
        if code is None:
            code = code_of(arg)
        is_static = statics and len(key) in statics
        if code == PLAIN or (is_static and (code == OPAQUE or not holds_objects(arg))):
            key.append(None)
            values.append(arg)
        elif code == OBJECTS and not is_static:
            record: Record | None = arg._nnx_record
            if record is None or not record.is_current():
                record = record_of(arg)
            key.append(record.graphdef.token)
            values.append(record.cell.values or read(record))
            for other in records:
                if not are_disjoint(other, record):
                    return None
            records.append(record)
        elif code == CONTAINER and is_plain(arg):
            key.append(None)
            values.append(arg)
        else:
            return None
    if len(records) > 1:
        with graph_lock:  # what one call of another thread writes into several is read together
            following = iter(records)
            for number, token in enumerate(key):
                if token is not None:
                    record = next(following)
                    values[number] = record.cell.values or read(record)
    return _gathered(Gathered, (tuple(key), values, records))


def is_plain(container: Any) -> bool:
    """Whether a container holds arrays, numbers and containers of them, such as a batch."""
    for item in container.values() if type(container) is dict else container:
        code = _codes[type(item)]
        if code is None:
            code = code_of(item)
        if code != PLAIN and not (code == CONTAINER and is_plain(item)):
            return False
    return True


# What a NamedTuple's own constructor does, less a call in Python.
_gathered = tuple.__new__


def are_plain(args: Sequence[Any], statics: frozenset[int]) -> bool:
    """Whether all arguments are arrays, numbers and containers of them, or static without objects."""
    gathered = gather(args, statics)
    return gathered is not None and not gathered.records


def write(records: Sequence[Record], effects: Effects, updates: Sequence[list[Any]]) -> bool:
    """Write changed values into the Variables; False if the general way is needed."""
    trace = context.trace
    for record, changed in zip(records, effects.changed, strict=True):
        if changed and (record.has_slots or record.common_trace() is not trace):
            return False
    write_targets(targets_of(records, effects), updates)
    return True


def targets_of(records: Sequence[Record], effects: Effects) -> list[Target]:
    """Return what writes the values that effects change; remembered by the records."""
    found = []
    for record, changed in zip(records, effects.changed, strict=True):
        known, target = record.targets
        if known is not effects:
            target = Target(record, changed)
            record.targets = (effects, target)
        found.append(target)
    return found


class Target:
    """The Variables of one record that a call changes; good as long as the record."""

    __slots__ = ("_boxes", "_cell", "_changed", "_leaves")

    def __init__(self, record: Record, changed: Sequence[int]) -> None:
        leaves: Any = record.leaves
        self._cell = record.cell
        self._changed = None if len(changed) == len(leaves) else changed
        self._leaves = [leaves[number] for number in changed]
        self._boxes = [leaf._flat[0] for leaf in self._leaves]

    def write(self, new: list[Any]) -> None:
        """Write values, with the lock held."""
        cell, changed = self._cell, self._changed
        known = cell.values
        values: list[Any] = []
        # As in `read`: known before it is filled, so that an assignment by another thread drops it.
        cell.values = values
        for box, value in zip(self._boxes, new, strict=True):
            box[0] = value
        if cell.shared:
            for variable in self._leaves:
                for other in variable._nnx_cells:
                    if other is not cell:
                        other.values = None
        if changed is None:
            values.extend(new)
        elif known:
            merged = known.copy()  # a call of another thread may have the list
            for number, value in zip(changed, new, strict=True):
                merged[number] = value
            values.extend(merged)


def write_targets(targets: Sequence[Target], updates: Sequence[list[Any]]) -> None:
    """Write the values of one call, all at one moment."""
    with graph_lock:
        for target, new in zip(targets, updates, strict=True):
            if new:
                target.write(new)
