"""The traversal: one pass over an object graph, in the one order that there is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

from typed_nnx._core.nodes import (
    CONTAINER,
    LEAF,
    OBJECT,
    REFERENCE,
    STATIC,
    VARIABLE,
    Spec,
    classify,
    container_holder,
    kind_of,
    kinds,
    spec_of,
)
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import LEAF_ITEM, REF_ITEM, GraphDef, Item, VariableDef
from typed_nnx._graph.watching import Watched
from typed_nnx.errors import ContainerCycleError


class Slot(NamedTuple):
    """Where an array that is a leaf is kept: ``holder[name]``, with the position of its owner."""

    holder: Any
    name: Any
    owner: int


Leaf: TypeAlias = Variable[Any] | Slot


class Traversal:
    """One pass over an object graph, in the one order that there is.

    Attributes:
        items: The structure, item by item.
        objects: The object or Variable of each item, None for all else.
        references: The bare array references, kept alive for their ids in `index`.
        has_slots: Whether some leaf is not a Variable.
        leaves: The Variables and slots, in order.
        watched: What was met that may change without telling: plain mutable containers, and objects of
            classes that write past `Pytree.__setattr__`.
        mutable: The static values that may change in place, with the keys of their content.
        index: The position of each object, by id.
        base: The position of the first item.
    """

    __slots__ = (
        "_afresh", "_definitions", "_graphdef", "_last", "base", "has_slots", "index", "items", "leaves",
        "mutable", "objects", "references", "watched",
    )  # fmt: skip

    def __init__(
        self, index: dict[int, int] | None = None, base: int = 0, *, afresh: bool = False
    ) -> None:
        self._afresh = afresh  # describe every object again, whatever it has cached
        self.items: list[Item] = []
        self.objects: list[Any] = []
        self.leaves: list[Leaf] = []
        self.watched: list[Watched] = []
        self.mutable: dict[int, tuple[Any, Any]] = {}
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
        spec: Spec = (None if self._afresh else node._nnx_described) or node._nnx_spec()
        position = len(self.items)
        self.items.append(spec)
        self.objects.append(node)
        self.index[id(node)] = position + self.base
        if not spec.is_lasting:
            self._watch(node, spec)
        if spec.names:
            self._children(spec, node.__dict__, position, ())

    def _watch(self, node: Any, spec: Spec) -> None:
        self.mutable.update({id(pair[0]): pair for pair in spec.mutable})
        if node._nnx_writes_past:
            attributes = node.__dict__
            self.watched.append(Watched(node, spec, [attributes[name] for name in spec.names]))

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
                if type(child) is not cls or child._flat[1] is not meta:
                    definition = self._definition(child)
                    cls, meta = type(child), child._flat[1]
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
            self.mutable.update({id(pair[0]): pair for pair in meta.mutable})
        self._last = (type(variable), meta, definition)
        return definition

    @property
    def graphdef(self) -> GraphDef[Any]:
        """The structure."""
        if self._graphdef is None:
            self._graphdef = GraphDef(tuple(self.items), base=self.base)
        return self._graphdef

    def values(self) -> list[Any]:
        """Return the leaves as States hold them: Variables, and the arrays in the slots."""
        return leaf_values(self.leaves)


def leaf_values(leaves: Iterable[Leaf]) -> list[Any]:
    """Return the leaves as States hold them: Variables, and the arrays in the slots."""
    return [leaf.holder[leaf.name] if type(leaf) is Slot else leaf for leaf in leaves]
