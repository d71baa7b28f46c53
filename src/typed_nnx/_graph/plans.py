"""How to build the States of a tuple of filters: worked out once per record and filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typed_nnx._core.filters import Filter, Predicate, is_structural, to_predicates, types_in
from typed_nnx._core.leaves import describe_leaf
from typed_nnx._core.nested import MixedLevel, Nested
from typed_nnx._core.paths import Path
from typed_nnx._core.static_keys import static_key
from typed_nnx._core.variable import Variable
from typed_nnx._graph.record import Record
from typed_nnx._graph.traversal import Leaf, Slot, Traversal
from typed_nnx.errors import NoFilterMatchedError


class Level:
    """One nested dict of a State: a template to copy and what must be filled in afresh."""

    __slots__ = ("copied", "inner", "slots", "template")

    def __init__(
        self,
        template: Nested,
        copied: list[tuple[Any, Nested]],
        inner: list[tuple[Any, Level]],
        slots: list[tuple[Any, Slot]],
    ) -> None:
        self.template = template
        self.copied = copied
        self.inner = inner
        self.slots = slots

    def build(self) -> Nested:
        """Return a new nested dict with the leaves as they are now."""
        made = self.template.copy()
        for key, template in self.copied:
            made[key] = template.copy()
        for key, level in self.inner:
            made[key] = level.build()
        for key, slot in self.slots:
            made[key] = slot.holder[slot.name]
        return made if type(self.template) is dict else MixedLevel(made)


class Plan:
    """The levels of each group, and the leaves that no filter matches."""

    __slots__ = ("groups", "rest")

    def __init__(self, tree: Any, leaves: Sequence[Leaf], group_of: list[int], count: int) -> None:
        self.rest = [number for number, group in enumerate(group_of) if group == count]
        self.groups = [_whole(_level(tree, leaves, group_of, group)) for group in range(count)]

    def build(self) -> list[Nested]:
        """Return one nested dict per filter."""
        return [level.build() for level in self.groups]


def _whole(level: Level | Nested) -> Level:
    return level if isinstance(level, Level) else Level(level, [], [], [])


def _level(tree: Nested, leaves: Sequence[Leaf], group_of: list[int], group: int) -> Level | Nested:
    """Return the level of one group; a bare dict if nothing in it has to be filled in."""
    template: Nested = {}
    copied: list[tuple[Any, Nested]] = []
    inner: list[tuple[Any, Level]] = []
    slots: list[tuple[Any, Slot]] = []
    for key, place in tree.items():
        if type(place) is int:
            if group_of[place] == group:
                leaf = leaves[place]
                if type(leaf) is Slot:
                    template[key] = None
                    slots.append((key, leaf))
                else:
                    template[key] = leaf
            continue
        below = _level(place, leaves, group_of, group)
        if isinstance(below, Level):
            template[key] = None
            inner.append((key, below))
        elif below:
            template[key] = None
            copied.append((key, below))
    if type(tree) is not dict:
        return Level(MixedLevel(template), copied, inner, slots) if template else template
    return Level(template, copied, inner, slots) if copied or inner or slots else template


def _groups(
    predicates: Sequence[Predicate], paths: Sequence[Path], values: Sequence[Any]
) -> list[int]:
    count = len(predicates)
    found = []
    for path, value in zip(paths, values, strict=True):
        for index, predicate in enumerate(predicates):
            if predicate(path, value):
                found.append(index)
                break
        else:
            found.append(count)
    return found


def _key(filters: tuple[Filter, ...], record: Record | Traversal) -> Any:
    """Return what to remember the plan under, or None if it depends on values."""
    if not isinstance(record, Record):
        return None
    try:
        key = static_key(_hashable(filters))
        hash(key)
    except TypeError:
        return None
    return key


def _hashable(filters: Any) -> Any:
    if isinstance(filters, list):
        return (list, *map(_hashable, filters))
    return tuple(map(_hashable, filters)) if isinstance(filters, tuple) else filters


class Groups:
    """Which leaves each filter takes, and the States built at once: for the first call."""

    __slots__ = ("_group_of", "_tree", "_values", "count", "rest")

    def __init__(self, tree: Any, values: list[Any], group_of: list[int], count: int) -> None:
        self._tree = tree
        self._values = values
        self._group_of = group_of
        self.count = count
        self.rest = [number for number, group in enumerate(group_of) if group == count]

    def build(self) -> list[Nested]:
        """Return one nested dict per filter."""
        if self.count == 1 and not self.rest:
            return [_nested(self._tree, self._values)]
        return [self._group(self._tree, group) for group in range(self.count)]

    def _group(self, tree: Nested, group: int) -> Nested:
        made: Nested = {}
        for key, place in tree.items():
            if type(place) is int:
                if self._group_of[place] == group:
                    made[key] = self._values[place]
            else:
                below = self._group(place, group)
                if below:
                    made[key] = below
        return made if type(tree) is dict else MixedLevel(made)


def _nested(tree: Nested, values: list[Any]) -> Nested:
    made = {
        key: values[place] if type(place) is int else _nested(place, values)
        for key, place in tree.items()
    }
    return made if type(tree) is dict else MixedLevel(made)


def plan_for(filters: tuple[Filter, ...], record: Record | Traversal) -> Plan | Groups:
    """Return how to build the States of a tuple of filters.

    The first call with these filters gets something to be used once; from the second call on there
    is a `Plan`, which costs more to make and less to use.
    """
    key = _key(filters, record)
    known: Plan | int | None = None
    if key is not None and isinstance(record, Record):
        known = record.plans[key]
        if isinstance(known, Plan):
            return known
    predicates = to_predicates(filters)
    layout = record.graphdef.layout
    count = max(len(predicates), 1)
    values = record.values()
    groups = _groups(predicates, layout.paths, values) if predicates else [0] * len(values)
    if key is None or not isinstance(record, Record) or not _lasting(predicates, record):
        return Groups(layout.tree, values, groups, count)
    if known is None:
        record.plans.add(key, 1)
        return Groups(layout.tree, values, groups, count)
    plan = record.plans[key] = Plan(layout.tree, record.leaves, groups, count)
    return plan


def _lasting(predicates: Sequence[Predicate], record: Record) -> bool:
    # A Variable keeps its type and its metadata is told; a slot may get an array of another type.
    if not all(map(is_structural, predicates)):
        return False
    return not record.has_slots or all(
        issubclass(kind, Variable) for predicate in predicates for kind in types_in(predicate)
    )


def check_exhaustive(function: str, plan: Plan | Groups, record: Record | Traversal) -> None:
    """Raise `NoFilterMatchedError` if the plan leaves something out."""
    if plan.rest:
        paths, values = record.graphdef.layout.paths, record.values()
        raise NoFilterMatchedError(
            function, [(paths[number], describe_leaf(values[number])) for number in plan.rest]
        )
