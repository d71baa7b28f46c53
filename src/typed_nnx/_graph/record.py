"""The cached traversal: one record per root object, kept by the object and told about changes."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from typing import Any

from typed_nnx._core.bounded import Bounded
from typed_nnx._core.cells import Cell, acquire, graph_lock, joined, release
from typed_nnx._core.nodes import (
    CONTAINER,
    LEAF,
    OBJECT,
    REFERENCE,
    STATIC,
    VARIABLE,
    Spec,
    kind_of,
    one_level,
    spec_of,
    store_record,
    store_spec,
)
from typed_nnx._core.nodes import store_cells as store_node_cells
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_parts import store_cells
from typed_nnx._graph import verify
from typed_nnx._graph.graphdef import GraphDef, Item, Layout, VariableDef
from typed_nnx._graph.traversal import Slot, Traversal, leaf_values
from typed_nnx._graph.watching import Watch, Watched


class Rebuilt:
    """What a traversal would find in an object that was just built of a structure.

    Args:
        structure: The structure, of objects and Variables only.
        made: The objects by position.
    """

    def __init__(self, structure: GraphDef[Any], made: Mapping[int, Any]) -> None:
        self.graphdef: GraphDef[Any] = structure
        self.objects: list[Any] = [made.get(number) for number in range(len(structure.items))]
        self.leaves = [found for found in self.objects if isinstance(found, Variable)]
        self.index = {id(found): number for number, found in made.items()}
        self.watched: list[Watched] = []
        nodes = [item for item in structure.descriptions if item.mutable]
        self.mutable = {id(pair[0]): pair for item in nodes for pair in item.mutable}
        self.references: list[Any] = []
        self.has_slots = False


def adopt(root: Any, structure: GraphDef[Any], made: Mapping[int, Any]) -> Record | None:
    """Give an object that was just built of a structure its record, without a traversal.

    Returns:
        The record; None if a traversal will be needed.
    """
    if (
        isinstance(root, Pytree)
        and structure.base == 0
        and structure.is_objects_only
        and not any(node._nnx_writes_past for node in made.values() if isinstance(node, Pytree))
    ):
        return _attach(root, Rebuilt(structure, made))
    return None


class Record:
    """What is known about the graph below one root; usable while `current` says so.

    Attributes:
        graphdef: The structure.
        leaves: The Variables and slots, in the order of the structure.
        objects: The object of each item; None for the root itself, which keeps the record.
        index: The position of each object, by id.
        cell: The validity, shared with every object in the graph.
        references: The bare array references.
        has_slots: Whether some leaf is not a Variable.
        plans: How to build the States of each tuple of filters.
        targets: Effects of a transform, and what writes them into the Variables.
        watch: Looks at what may change below the root without telling; None where there is nothing.
        disjoint: Other records, by id, that are known to share nothing with this one.
    """

    __slots__ = (
        "__weakref__", "_variants", "cell", "disjoint", "graphdef", "has_slots", "index", "leaves", "objects",
        "plans", "references", "targets", "trace", "watch",
    )  # fmt: skip

    def __init__(self, traversal: Traversal | Rebuilt, cell: Cell) -> None:
        self.graphdef = traversal.graphdef
        self.leaves = tuple(traversal.leaves)
        self.objects = traversal.objects
        self.objects[0] = None
        self.index = traversal.index
        is_watched = traversal.watched or traversal.mutable
        self.watch = Watch(traversal.watched, traversal.mutable.values()) if is_watched else None
        self.cell = cell
        self.plans: Bounded[Any, Any] = Bounded(32)
        self.disjoint: Bounded[int, weakref.ref[Record]] = Bounded(16)
        # Structures with other static values, such as those of train() and eval().
        self._variants: Bounded[Any, GraphDef[Any]] = Bounded(16)
        self.targets: tuple[Any, Any] = (None, None)
        self.trace: Any = None
        self.has_slots = traversal.has_slots
        self.references = traversal.references

    def is_untouched(self, root: Any, structure: GraphDef[Any]) -> bool:
        """Whether it is still the record of an object, with the very structure that it had."""
        return root._nnx_record is self and self.graphdef is structure and self.is_current()

    def is_current(self) -> bool:
        """Whether all that it says is true now: the one condition under which it is used."""
        return not self.cell.dirty and self.keeps_structure()

    def keeps_structure(self) -> bool:
        """Whether nothing but static values and metadata changed, which `patch` takes over."""
        return self.cell.valid and (self.watch is None or self.watch.holds())

    def patch(self, root: Any) -> None:
        """Take over static values and metadata that changed; with the lock held."""
        dirty = self.cell.dirty
        if dirty:
            changed: list[tuple[int, Spec | VariableDef]] = []
            for position in sorted(dirty):
                node = self.objects[position] if position else root
                is_variable = isinstance(node, Variable)
                item = VariableDef(type(node), node._meta) if is_variable else spec_of(node)
                changed.append((position, item))
            key = (
                self.graphdef.token,
                tuple([(position, item.token) for position, item in changed]),
            )
            known = self._variants[key]
            if known is None:
                known = self._variants.add(key, self._with_items(changed))
            if self.plans:
                self.plans.clear()
            self.graphdef = known
            dirty.clear()

    def _with_items(self, changed: Iterable[tuple[int, Item]]) -> GraphDef[Any]:
        """Return the structure with other items in some places."""
        items = list(self.graphdef.items)
        for position, item in changed:
            items[position] = item
        # The names of children did not change, so the leaves are where they were.
        return GraphDef(tuple(items), layout=_same_places(self.graphdef, items))

    def common_trace(self) -> Any:
        """Return the trace that all Variables belong to; None if there is no single one."""
        if self.trace is None:
            traces = [leaf._nnx_trace for leaf in self.leaves if type(leaf) is not Slot]  # type: ignore[union-attr]  # not a Slot
            first = traces[0] if traces else None
            self.trace = first if all(trace is first for trace in traces) else _MIXED
        return self.trace

    def values(self) -> list[Any]:
        """Return the leaves as States hold them."""
        return leaf_values(self.leaves) if self.has_slots else list(self.leaves)


_MIXED = object()


def _same_places(graphdef: GraphDef[Any], items: list[Item]) -> Any:
    leaves = tuple([item for item in items if type(item) is not Spec and type(item) is not int])
    return Layout(graphdef.layout.tree, leaves)


def record_of(root: Pytree) -> Record:
    """Return the record of an object: the cached one if nothing changed, else a new one."""
    record: Record | None = root._nnx_record
    if record is None or not record.is_current():
        record = _renewed(root)
    if verify.enabled:
        with graph_lock:  # else another thread may change the structure between the two
            if not record.is_current():
                record = _renewed(root)
            verify.check(root, record, Traversal(afresh=True).visit(root))
    return record


def _renewed(root: Pytree) -> Record:
    """Return the record with what changed taken over, or a new one if that cannot be.

    A new one need not be current: a container may have other children at each look.
    """
    acquire()
    try:
        record: Record | None = root._nnx_record
        if record is None or not record.keeps_structure():
            record = _attach(root, Traversal().visit(root))
        record.patch(root)
        return record
    finally:
        release()


def _attach(root: Pytree, traversal: Traversal | Rebuilt) -> Record:
    """Make the record of what was found, and tell all that is in it."""
    cell = Cell(weakref.ref(root))
    own = (cell,)
    with graph_lock:
        for node in traversal.objects:
            if node is not None:
                known = node._nnx_cells
                mine = joined(known, own) if known else own
                if isinstance(node, Variable):
                    store_cells(node, mine)
                else:
                    store_node_cells(node, mine)
        record = Record(traversal, cell)
        store_record(root, record)
    return record


def snapshot(root: Any) -> Record | Traversal:
    """Return the record of an object, or a fresh traversal of anything else."""
    return record_of(root) if isinstance(root, Pytree) else Traversal().visit(root)


def invalidate(node: Any, /) -> None:
    """Forget what is cached about an object and everything below it.

    Needed only after a change that went past us, such as ``vars(obj)["x"] = ...``.

    Args:
        node: An object or a container of objects.
    """
    with graph_lock:
        _forget(node, set())


def _forget(node: Any, seen: set[int]) -> None:
    if id(node) in seen or kind_of(node) in (LEAF, STATIC, REFERENCE):
        return
    seen.add(id(node))
    if isinstance(node, Variable | Pytree):
        for cell in node._nnx_cells:
            cell.invalidate()
    if isinstance(node, Variable):
        return
    if isinstance(node, Pytree):
        store_spec(node, None)
        store_record(node, None)
        children: Iterable[Any] = list(node.__dict__.values())
    else:
        children = [value for _, value in one_level(node)[0]] if node is not None else ()
    for child in children:
        if kind_of(child) in (OBJECT, CONTAINER, VARIABLE):
            _forget(child, seen)
