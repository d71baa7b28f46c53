"""The cached traversal: one record per root object, kept by the object and told about changes."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

from typed_nnx._core.cells import Cell, attach_lock, joined
from typed_nnx._core.nodes import (
    CONTAINER,
    LEAF,
    OBJECT,
    REFERENCE,
    STATIC,
    VARIABLE,
    GraphNode,
    Spec,
    container_holder,
    classify,
    kind_of,
    kinds,
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
from typed_nnx._graph.graphdef import LEAF_ITEM, REF_ITEM, GraphDef, Item, Layout, VariableDef
from typed_nnx.errors import ContainerCycleError


class Slot(NamedTuple):
    """Where an array that is a leaf is kept: ``holder[name]``, with the position of its owner."""

    holder: Any
    name: Any
    owner: int


Leaf: TypeAlias = Variable[Any] | Slot


class Watched(NamedTuple):
    """A plain mutable container and the children it had; a change in it is not told to us."""

    container: Any
    spec: Spec
    children: list[Any]


class Traversal:
    """One pass over an object graph, in the one order that there is.

    Attributes:
        items: The structure, item by item.
        objects: The object or Variable of each item, None for all else.
        references: The bare array references, kept alive for their ids in `index`.
        has_slots: Whether some leaf is not a Variable.
        leaves: The Variables and slots, in order.
        watched: The plain mutable containers that were met.
        index: The position of each object, by id.
        base: The position of the first item.
    """

    __slots__ = (
        "_definitions", "_graphdef", "_last", "base", "has_slots", "index", "items", "leaves",
        "objects", "references", "watched",
    )  # fmt: skip

    def __init__(self, index: dict[int, int] | None = None, base: int = 0) -> None:
        self.items: list[Item] = []
        self.objects: list[Any] = []
        self.leaves: list[Leaf] = []
        self.watched: list[Watched] = []
        self.index: dict[int, int] = {} if index is None else index
        self.base = base
        self.references: list[Any] = []
        self.has_slots = False
        self._definitions: dict[tuple[type, int], VariableDef] = {}
        self._last: tuple[Any, Any, Any] = (None, None, None)
        self._graphdef: GraphDef[Any] | None = None

    def visit(self, root: Any) -> Any:
        """Traverse from a root: an object, a container, a Variable or a leaf."""
        self._child({"root": root}, "root", root, kind_of(root), -1, ())
        return self

    def _object(self, node: Any) -> None:
        spec: Spec = node._spec or node._nnx_spec()
        position = len(self.items)
        self.items.append(spec)
        self.objects.append(node)
        self.index[id(node)] = position + self.base
        if spec.names:
            self._children(spec, node.__dict__, position, ())

    def _container(self, node: Any, above: tuple[int, ...]) -> None:
        if id(node) in above:
            raise ContainerCycleError((), type(node).__name__)
        spec = spec_of(node)
        position = len(self.items)
        self.items.append(spec)
        self.objects.append(None)
        holder = container_holder(node, spec)
        if not isinstance(node, tuple) and node is not None:
            self.watched.append(Watched(node, spec, [holder[name] for name in spec.names]))
        self._children(spec, holder, position, (*above, id(node)))

    def _children(self, spec: Spec, holder: Any, position: int, above: tuple[int, ...]) -> None:
        items, objects, leaves, index = self.items, self.objects, self.leaves, self.index
        base = self.base
        cls, meta, definition = self._last
        for name in spec.names:
            child = holder[name]
            kind = kinds.get(type(child))
            if kind is None:
                kind = classify(child)
            # The two common cases, without another call.
            if kind == VARIABLE and id(child) not in index:
                index[id(child)] = len(items) + base
                if type(child) is not cls or child._meta is not meta:
                    definition = self._definition(child)
                    cls, meta = type(child), child._meta
                items.append(definition)
                objects.append(child)
                leaves.append(child)
            elif kind == OBJECT and id(child) not in index:
                self._object(child)
            else:
                self._child(holder, name, child, kind, position, above)

    def _child(
        self, holder: Any, name: Any, child: Any, kind: int, owner: int, above: tuple[int, ...]
    ) -> None:
        if kind in (LEAF, STATIC):
            self.has_slots = True
            self.items.append(LEAF_ITEM)
            self.objects.append(None)
            self.leaves.append(Slot(holder, name, owner))
            return
        if kind != CONTAINER:
            seen = self.index.get(id(child))
            if seen is not None:
                self.items.append(seen)
                self.objects.append(None)
                return
        if kind == VARIABLE:
            self.index[id(child)] = len(self.items) + self.base
            self.items.append(self._definition(child))
            self.objects.append(child)
            self.leaves.append(child)
        elif kind == REFERENCE:
            self.index[id(child)] = len(self.items) + self.base
            self.has_slots = True
            self.items.append(REF_ITEM)
            self.objects.append(None)
            self.references.append(child)
            self.leaves.append(Slot(holder, name, owner))
        elif kind == OBJECT:
            self._object(child)
        else:
            self._container(child, above)

    def _definition(self, variable: Variable[Any]) -> VariableDef:
        meta = variable._meta
        key = (type(variable), id(meta))
        definition = self._definitions.get(key)
        if definition is None:
            definition = self._definitions[key] = VariableDef(type(variable), meta)
        self._last = (type(variable), meta, definition)
        return definition

    def graphdef(self) -> GraphDef[Any]:
        """Return the structure."""
        if self._graphdef is None:
            self._graphdef = GraphDef(tuple(self.items), base=self.base)
        return self._graphdef

    def values(self) -> list[Any]:
        """Return the leaves as States hold them: Variables, and the arrays in the slots."""
        return leaf_values(self.leaves)


def leaf_values(leaves: Iterable[Leaf]) -> list[Any]:
    """Return the leaves as States hold them: Variables, and the arrays in the slots."""
    return [leaf.holder[leaf.name] if type(leaf) is Slot else leaf for leaf in leaves]


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
    """

    __slots__ = ("cell", "graphdef", "has_slots", "index", "leaves", "objects", "plans", "references", "watched")

    def __init__(self, traversal: Traversal, cell: Cell) -> None:
        self.graphdef = traversal.graphdef()
        self.leaves = tuple(traversal.leaves)
        self.objects = traversal.objects
        self.objects[0] = None
        self.index = traversal.index
        self.watched = traversal.watched
        self.cell = cell
        self.plans: dict[Any, Any] = {}
        self.has_slots = traversal.has_slots
        self.references = traversal.references

    def is_current(self) -> bool:
        """Whether no structure below the root has changed."""
        return self.cell.valid and (not self.watched or all(map(_unchanged, self.watched)))

    def patch(self, root: Any) -> None:
        """Take over static values and metadata that changed."""
        dirty = self.cell.dirty
        items = list(self.graphdef.items)
        for position in list(dirty):
            dirty.discard(position)
            node = self.objects[position] if position else root
            if isinstance(node, Variable):
                items[position] = VariableDef(type(node), node._meta)
            else:
                items[position] = spec_of(node)
        self.plans = {}
        # The names of children did not change, so the leaves are where they were.
        self.graphdef = GraphDef(tuple(items), layout=_same_places(self.graphdef, items))

    def values(self) -> list[Any]:
        """Return the leaves as States hold them."""
        return leaf_values(self.leaves) if self.has_slots else list(self.leaves)


def _same_places(graphdef: GraphDef[Any], items: list[Item]) -> Any:
    leaves = tuple([item for item in items if type(item) is not Spec and type(item) is not int])
    return Layout(graphdef.layout.tree, leaves)


def _unchanged(watched: Watched) -> bool:
    container, spec, children = watched
    if spec.treedef is None and len(container) != len(spec.names) + len(spec.statics):
        return False
    if spec.treedef is None:
        if spec.cls is dict and not all(name in container for name in spec.names):
            return False
        now = [container[name] for name in spec.names]
        if spec.statics and not all(
            name in container and container[name] is value if spec.cls is dict else container[name] is value
            for name, value in spec.statics
        ):
            return False
    else:
        entries, treedef = one_level(container)
        if treedef != spec.treedef:
            return False
        found = dict(entries)
        now = [found[name] for name in spec.names]
        if any(found[name] is not value for name, value in spec.statics):
            return False
    for index, value in enumerate(now):
        if value is not children[index]:
            if kind_of(value) != LEAF or kind_of(children[index]) != LEAF or spec.treedef is not None:
                return False
            children[index] = value
    return True


def record_of(root: Pytree) -> Record:
    """Return the record of an object: the cached one if nothing changed, else a new one."""
    record: Record | None = root._record
    if record is not None and record.is_current():
        if record.cell.dirty:
            record.patch(root)
    else:
        record = _build(root)
    if verify.enabled:
        verify.check(root, record, Traversal().visit(root))
    return record


def _build(root: Pytree) -> Record:
    traversal: Traversal = Traversal().visit(root)
    cell = Cell(weakref.ref(root))
    own = (cell,)
    with attach_lock:
        for node in traversal.objects:
            if node is not None:
                known = node._cells
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
    _forget(node, set())


def _forget(node: Any, seen: set[int]) -> None:
    if id(node) in seen or kind_of(node) in (LEAF, STATIC, REFERENCE):
        return
    seen.add(id(node))
    if isinstance(node, Variable | Pytree):
        for cell in node._cells:
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
