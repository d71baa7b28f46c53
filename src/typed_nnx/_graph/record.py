"""The cached traversal: one record per root object, kept by the object and told about changes."""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from typed_nnx._core.cells import Bounded, Cell, acquire, graph_lock, joined, release
from typed_nnx._core.jax_runtime import Trace
from typed_nnx._core.nodes import (
    CONTAINER,
    LEAF,
    OBJECT,
    REFERENCE,
    STATIC,
    VARIABLE,
    GraphNode,
    Spec,
    kind_of,
    one_level,
    spec_of,
    store_record,
    store_spec,
)
from typed_nnx._core.nodes import store_cells as store_node_cells
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.settings import Restoring
from typed_nnx._core.variable import AnyVariable, Variable, store_cells
from typed_nnx._graph.graphdef import GraphDef, Item, Layout, VariableDef
from typed_nnx._graph.traversal import Traversal, Watch, leaf_values
from typed_nnx.errors import StaleRecordError


class Verify:
    """The verifying debug mode: every use of a record is compared to a fresh traversal.

    Attributes:
        enabled: Whether it is on; the environment variable ``TYPED_NNX_VERIFY=1`` turns it on.
    """

    def __init__(self) -> None:
        self.enabled: bool = os.environ.get("TYPED_NNX_VERIFY", "") not in ("", "0")


verify = Verify()


class set_verify_records(Restoring):  # lower case: it is called like a function
    """Turn the verifying debug mode on or off, from now on or for a block.

    In this mode a cached record that does not match the objects raises `StaleRecordError` at the
    call that would have used it. It makes every call as slow as the first one.

    Args:
        value: True to turn it on.
    """

    def __init__(self, value: bool, /) -> None:
        super().__init__(functools.partial(setattr, verify, "enabled", verify.enabled))
        verify.enabled = value


def _check(root: Pytree, record: Record) -> None:
    """Compare a record with a fresh traversal.

    Raises:
        StaleRecordError: They differ.
    """
    name = type(root).__name__
    fresh = Traversal(afresh=True).visit(root)
    graphdef = fresh.graphdef
    if record.graphdef != graphdef:
        raise StaleRecordError(name, "its structure is not what it was")
    if len(record.leaves) != len(fresh.leaves):
        raise StaleRecordError(name, f"it has {len(fresh.leaves)} leaves, not {len(record.leaves)}")
    _check_same(name, record.values(), fresh.values(), graphdef, "the leaf {} was replaced")
    raw = record.cell.values
    if raw:
        current = [leaf._flat[0][0] for leaf in record.leaves if isinstance(leaf, Variable)]
        _check_same(name, raw, current, graphdef, "the value of the leaf {} changed")


def _check_same(
    name: str, known: Iterable[object], fresh: Iterable[object], graphdef: GraphDef, text: str
) -> None:
    for number, (cached, current) in enumerate(zip(known, fresh, strict=True)):
        if cached is not current:
            raise StaleRecordError(name, text.format(graphdef.where(number)))


def adopt(
    root: object, structure: GraphDef, built: Mapping[int, GraphNode | AnyVariable]
) -> Record | None:
    """Give an object that was just built of a structure its record, without a traversal.

    Returns:
        The record; None if a traversal will be needed.
    """
    known = structure.unwatched
    if known is None:
        mutable = [pair for item in structure.descriptions for pair in item.mutable]
        known = structure.unwatched = structure.is_objects_only, mutable
    if (
        isinstance(root, Pytree)
        and structure.base == 0
        and known[0]
        and not any(node._nnx_writes_past for node in built.values() if isinstance(node, Pytree))
    ):
        return _attach(root, Traversal.of_built(structure, built, known[1]))
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
        targets: Effects of a transform, and what writes them into the Variables.
        watch: Looks at what may change below the root without telling; None where there is nothing.
        disjoint: Other records, by id, that are known to share nothing with this one.
    """

    __slots__ = (
        "__weakref__", "_trace", "_variants", "cell", "disjoint", "graphdef", "has_slots", "index", "leaves", "objects",
        "references", "targets", "watch",
    )  # fmt: skip

    def __init__(self, traversal: Traversal, cell: Cell) -> None:
        self.graphdef = traversal.graphdef
        self.leaves = tuple(traversal.leaves)
        self.objects = traversal.objects
        self.objects[0] = None
        self.index = traversal.index
        is_watched = traversal.watched or traversal.mutable
        self.watch = Watch(traversal.watched, traversal.mutable.values()) if is_watched else None
        self.cell = cell
        self.disjoint: Bounded[int, weakref.ref[Record]] = Bounded(16)
        # Structures with other static values, such as those of train() and eval().
        self._variants: Bounded[Hashable, GraphDef] = Bounded(16)
        self.targets: tuple[Any, Any] = (None, None)
        self._trace: Trace = None
        self.has_slots = traversal.has_slots
        self.references = traversal.references

    def is_untouched(self, root: object, structure: GraphDef) -> bool:
        """Whether it is still the record of an object, with the very structure that it had."""
        return (
            isinstance(root, Pytree)
            and root._nnx_record is self
            and self.graphdef is structure
            and self.is_current()
        )

    def is_current(self) -> bool:
        """Whether all that it says is true now: the one condition under which it is used."""
        return not self.cell.dirty and self.keeps_structure()

    def keeps_structure(self) -> bool:
        """Whether nothing but static values and metadata changed, which `patch` takes over."""
        return self.cell.valid and (self.watch is None or self.watch.holds())

    def patch(self, root: Pytree) -> None:
        """Take over static values and metadata that changed; with the lock held."""
        dirty = self.cell.dirty
        if dirty:
            changed: list[tuple[int, Spec | VariableDef]] = []
            for position in sorted(dirty):
                node = self.objects[position] if position else root
                if isinstance(node, Variable):
                    changed.append((position, VariableDef(type(node), node._meta)))
                else:
                    changed.append((position, spec_of(node)))
            key = (
                self.graphdef.token,
                tuple([(position, item.token) for position, item in changed]),
            )
            known = self._variants[key]
            if known is None:
                known = self._variants.add(key, self._with_items(changed))
            self.graphdef = known
            dirty.clear()

    def _with_items(self, changed: Iterable[tuple[int, Item]]) -> GraphDef:
        """Return the structure with other items in some places."""
        items = list(self.graphdef.items)
        for position, item in changed:
            items[position] = item
        # The names of children did not change, so the leaves are where they were.
        return GraphDef(tuple(items), layout=Layout(self.graphdef.layout.tree))

    def common_trace(self) -> Trace:
        """Return the trace that all Variables belong to; None if there is no single one."""
        if self._trace is None:
            traces = [leaf._nnx_trace for leaf in self.leaves if isinstance(leaf, Variable)]
            first = traces[0] if traces else None
            self._trace = first if all(trace is first for trace in traces) else _MIXED
        return self._trace

    def values(self) -> list[object]:
        """Return the leaves as States hold them."""
        return leaf_values(self.leaves) if self.has_slots else list(self.leaves)


_MIXED = object()


def record_of(root: Pytree) -> Record:
    """Return the record of an object: the cached one if nothing changed, else a new one."""
    record: Record | None = root._nnx_record
    if record is None or not record.is_current():
        record = _renewed(root)
    if verify.enabled:
        with graph_lock:  # else another thread may change the structure between the two
            if not record.is_current():
                record = _renewed(root)
            _check(root, record)
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


def _attach(root: Pytree, traversal: Traversal) -> Record:
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


def snapshot(root: object) -> Record | Traversal:
    """Return the record of an object, or a fresh traversal of anything else."""
    return record_of(root) if isinstance(root, Pytree) else Traversal().visit(root)


def invalidate(node: object, /) -> None:
    """Forget what is cached about an object and everything below it.

    Needed only after a change that went past us, such as ``vars(obj)["x"] = ...``.

    Args:
        node: An object or a container of objects.
    """
    with graph_lock:
        _forget(node, set())


def _forget(node: object, seen: set[int]) -> None:
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
        children: Iterable[object] = list(vars(node).values())
    else:
        children = [value for _, value in one_level(node)[0]] if node is not None else ()
    for child in children:
        if kind_of(child) in (OBJECT, CONTAINER, VARIABLE):
            _forget(child, seen)
