"""The outer side of a call: arguments with objects in them become trees of plain values."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax

from typed_nnx._core.cells import graph_lock
from typed_nnx._core.filters import to_predicates
from typed_nnx._core.nodes import LEAF, GraphNode, Spec, kinds
from typed_nnx._core.paths import Path, key_of_entry
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.record import Record, record_of
from typed_nnx._graph.traversal import Leaf, Slot, Traversal
from typed_nnx._transforms.places import CAPTURED, place_name
from typed_nnx._transforms.prefixes import Prefix, broadcast, by_filter, holds_filters, pure_prefix
from typed_nnx._transforms.signature import Argument, Part, Repeated, Signature, in_groups
from typed_nnx.errors import PrefixConflictError

_PLAIN: frozenset[type] = frozenset({int, float, bool, complex, str, type(None), bytes})


def is_object(value: Any) -> bool:
    """Whether a value is an object or Variable, which transforms take apart themselves."""
    return isinstance(value, GraphNode | Variable)


def holds_objects(tree: Any) -> bool:
    """Whether there are objects in a tree."""
    return any(map(is_object, jax.tree.leaves(tree, is_leaf=is_object)))


class Place(NamedTuple):
    """Where the values of one part live outside.

    Attributes:
        root: The object.
        graph: Its record, or a traversal.
        path: Where it is among the arguments.
        prefix: Its prefix.
        kept: Whether all its values are returned, as those of a donated argument are.
        values: The raw values of the leaves as they were gathered.
    """

    root: Any
    graph: Record | Traversal
    path: Path
    prefix: Prefix
    kept: bool
    values: list[Any]

    @property
    def structure(self) -> GraphDef[Any]:
        """The structure."""
        graph = self.graph
        return graph.graphdef

    @property
    def leaves(self) -> Sequence[Leaf]:
        """The Variables and slots."""
        return self.graph.leaves

    def object_at(self, position: int) -> Any:
        """Return the object at a position, counted from the root."""
        return self.root if position == 0 else self.graph.objects[position]


def prefix_of_leaf(part: Part, leaf: int) -> Prefix:
    """Return the prefix of a leaf of a part."""
    if part.filters is None or part.groups is None:
        return part.prefix
    return part.filters.values_in_order[part.groups[leaf]]


def raw_values(graph: Record | Traversal) -> list[Any]:
    """Return the raw values of the leaves."""
    if graph.has_slots:
        return [
            leaf.holder[leaf.name] if type(leaf) is Slot else leaf._flat[0][0]  # type: ignore[union-attr]  # not a Slot
            for leaf in graph.leaves
        ]
    return [leaf._flat[0][0] for leaf in graph.leaves]  # type: ignore[union-attr]  # no slots


def read(record: Record) -> list[Any]:
    """Return the raw values of the leaves, all of one moment, and cache them.

    The list is never changed once it is filled.
    """
    cell = record.cell
    with graph_lock:
        if record.has_slots:
            return raw_values(record)
        values: list[Any] = []
        found: list[Any] = []
        for _ in range(100):  # another thread that never stops assigning must not stop this one
            # Known before it is filled: an assignment meanwhile drops it.
            cell.values = values
            found = raw_values(record)
            if cell.values is values:
                break
        values.extend(found)
    return found


class Call(NamedTuple):
    """One call, taken apart.

    Attributes:
        signature: What is static about it.
        args: The positional arguments with values in the place of objects.
        kwargs: The keyword arguments.
        captured: The captured objects.
        prefixes: The prefixes of `args` in the form that jax takes.
        places: Where the values of each part live.
    """

    signature: Signature
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    captured: tuple[Any, ...]
    prefixes: tuple[Prefix, ...]
    places: list[Place]


class Gatherer:
    """Takes the arguments of one call apart."""

    __slots__ = ("_function", "_index", "_kept", "_offset", "places")

    def __init__(self, function: str) -> None:
        self._function = function
        self._offset = 0
        self._index: dict[int, int] | None = None
        self._kept = False
        self.places: list[Place] = []

    def argument(
        self, value: Any, prefix: Prefix, path: Path, *, kept: bool = False
    ) -> tuple[Any, Prefix, Argument | None]:
        """Return an argument as plain values, its prefix likewise, and what is static about it."""
        cls = type(value)
        if cls in _PLAIN or kinds.get(cls) == LEAF:
            return value, prefix, None
        self._kept = kept
        if isinstance(value, GraphNode | Variable):
            pure, part = self._object(value, prefix, path)
            return pure, pure_prefix(prefix), Argument(_LEAF_TREE, (part,))
        leaves, treedef = jax.tree.flatten(value, is_leaf=is_object)
        if not any(map(is_object, leaves)):
            return value, prefix, None
        return self._tree(value, treedef, prefix, path)

    def captured(self, value: Any, prefix: Prefix, *, kept: bool = False) -> tuple[Any, Argument]:
        """Return an object that the function closes over as plain values."""
        self._kept = kept
        graph = self._graph_of(value)
        if isinstance(graph, int):  # it is an argument too, whose prefix counts
            return [], Argument(_LEAF_TREE, (Repeated(graph, None),))
        pure, part = self._add(value, graph, prefix, (CAPTURED, type(value).__name__))
        return pure, Argument(_LEAF_TREE, (part,))

    def are_trees(self) -> bool:
        """Whether all are trees of pytrees of jax, in which no object is reached on several paths."""
        return self._index is None and not any(
            type(item) is int
            or (type(item) is Spec and not getattr(item.cls, "_nnx_is_pytree", True))
            for place in self.places
            for item in place.structure.items
        )

    def _add(
        self, root: Any, graph: Record | Traversal, prefix: Prefix, path: Path
    ) -> tuple[Any, Part]:
        """Add an object that was not met before; return its plain values and its part."""
        values = read(graph) if isinstance(graph, Record) else raw_values(graph)
        place = Place(root, graph, path, prefix, self._kept, values)
        part = self._part(place)
        self.places.append(place)
        self._offset += len(part.graphdef.items)
        return in_groups(part.filters, part.groups or (), place.values), part

    def _tree(
        self, value: Any, treedef: Any, prefix: Prefix, path: Path
    ) -> tuple[Any, Prefix, Argument]:
        entries = jax.tree_util.tree_leaves_with_path(value, is_leaf=is_object)
        prefixes = broadcast(prefix, treedef)
        parts: list[Part | Repeated | None] = []
        pure: list[Any] = []
        for (keys, leaf), own in zip(entries, prefixes, strict=True):
            if is_object(leaf):
                made, part = self._object(leaf, own, (*path, *map(key_of_entry, keys)))
                pure.append(made)
                parts.append(part)
            else:
                pure.append(leaf)
                parts.append(None)
        full = prefix
        if holds_filters(prefix):
            full = jax.tree.unflatten(treedef, [pure_prefix(own) for own in prefixes])
        return jax.tree.unflatten(treedef, pure), full, Argument(treedef, tuple(parts))

    def _object(self, root: Any, prefix: Prefix, path: Path) -> tuple[Any, Part | Repeated]:
        graph = self._graph_of(root)
        if self._index is not None:
            self._check_prefix(Place(root, Traversal().visit(root), path, prefix, self._kept, []))
        if isinstance(graph, int):
            repeated = Repeated(graph, by_filter(prefix))
            return repeated.nothing(), repeated
        return self._add(root, graph, prefix, path)

    def _part(self, place: Place) -> Part:
        filters = by_filter(place.prefix)
        structure = place.structure
        if filters is None:
            return Part(structure, None, None, self._offset, self._kept, place.prefix, place.path)
        to_predicates(filters.filters)  # raises if `...` is not the last
        leaves = zip(structure.layout.paths, place.graph.values(), strict=True)
        groups = [filters.group_of(self._function, path, leaf) for path, leaf in leaves]
        return Part(
            structure, tuple(groups), filters, self._offset, self._kept, place.prefix, place.path
        )

    def _graph_of(self, root: Any) -> Record | Traversal | int:
        """Return the graph of an object, or its number if it was met before."""
        if self._index is None:
            graph = record_of(root) if isinstance(root, Pytree) else Traversal().visit(root)
            if all(are_disjoint(place.graph, graph) for place in self.places):
                return graph
            self._index = self._shared_index()
        known = self._index.get(id(root))
        if known is not None:
            return known
        traversal: Traversal = Traversal(self._index, self._offset).visit(root)
        return traversal

    def _shared_index(self) -> dict[int, int]:
        """Return numbers for the objects of all parts together, since some of them are shared."""
        index: dict[int, int] = {}
        offset = 0
        for place in self.places:
            for identity, position in place.graph.index.items():
                index[identity] = position + offset
            offset += len(place.structure.items)
        return index

    def _check_prefix(self, place: Place) -> None:
        """Raise if a Variable that was met before has another prefix now."""
        if all(_same(place.prefix, other.prefix) for other in self.places):
            return
        known = _prefixes_by_leaf(self.places)
        for identity, (path, prefix, kind) in _prefixes_by_leaf([place]).items():
            before = known.get(identity, (path, prefix, kind))
            if not _same(before[1], prefix):
                found = [(place_name(before[0]), before[1]), (place_name(path), prefix)]
                raise PrefixConflictError(found, kind, self._function)


def are_disjoint(left: Record | Traversal, right: Record | Traversal) -> bool:
    """Whether two graphs have no object in common; remembered for records."""
    if left is right:
        return False
    if not (isinstance(left, Record) and isinstance(right, Record)):
        return left.index.keys().isdisjoint(right.index)
    known = left.disjoint[id(right)]
    if known is not None and known() is right:
        return True
    found = left.index.keys().isdisjoint(right.index)
    if found:
        left.disjoint.pop(id(right), None)  # the id of one that is gone
        left.disjoint.add(id(right), weakref.ref(right))
    return found


_LEAF_TREE = jax.tree.structure(0)


def _same(left: Prefix, right: Prefix) -> bool:
    return left is right or (type(left) is type(right) and bool(left == right))


def _prefixes_by_leaf(places: Sequence[Place]) -> dict[int, tuple[Path, Prefix, str]]:
    """Return path, prefix and name of the type of each Variable."""
    found: dict[int, tuple[Path, Prefix, str]] = {}
    for place in places:
        filters = by_filter(place.prefix)
        for path, leaf in zip(place.structure.layout.paths, place.leaves, strict=True):
            if isinstance(leaf, Variable):
                own = place.prefix
                if filters is not None:
                    own = filters.values_in_order[filters.group_of("prefix", path, leaf)]
                found.setdefault(id(leaf), ((*place.path, *path), own, type(leaf).__name__))
    return found
