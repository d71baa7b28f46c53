"""The traversal: one pass over an object graph, in the one order that there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import is_
from typing import Any, NamedTuple, Self, TypeAlias

from typed_nnx._core.cells import content_key
from typed_nnx._core.metadata import Metadata
from typed_nnx._core.nodes import (
    CONTAINER,
    LEAF,
    OBJECT,
    REFERENCE,
    STATIC,
    VARIABLE,
    GraphNode,
    Kind,
    Spec,
    TreeDef,
    classify,
    container_holder,
    kind_of,
    kinds,
    one_level,
    spec_of,
)
from typed_nnx._core.paths import Key
from typed_nnx._core.settings import MISSING
from typed_nnx._core.state import State
from typed_nnx._core.variable import AnyVariable, Variable
from typed_nnx._graph.graphdef import LEAF_ITEM, REF_ITEM, GraphDef, Item, VariableDef
from typed_nnx.errors import GraphError


class Slot(NamedTuple):
    """Where a leaf that is no Variable is kept: ``holder[name]``, and the position of its owner."""

    holder: Any  # a dict, a list, or what has items like one
    name: Key
    owner: int


Leaf: TypeAlias = AnyVariable | Slot


class Watched(NamedTuple):
    """What may change without telling, with the children that it had.

    A plain mutable container, or an object whose class writes past `Pytree.__setattr__`.
    """

    container: object
    spec: Spec
    children: list[object]

    def is_unchanged(self) -> bool:
        """Whether it still has these children; arrays may have been replaced."""
        spec, children = self.spec, self.children
        found, treedef = _entries(self.container)
        if treedef != spec.treedef or len(found) != len(spec.names) + len(spec.statics):
            return False
        for index, (name, old) in enumerate(zip(spec.names, children, strict=True)):
            new = found.get(name, MISSING)
            if new is old:
                continue
            # A slot reads a list or dict itself, but of other containers only what they had.
            if spec.treedef is not None or kind_of(new) != LEAF or kind_of(old) != LEAF:
                return False
            children[index] = new
        return all(found.get(name, MISSING) is value for name, value in spec.statics)


def _entries(container: object) -> tuple[Mapping[Key, object], TreeDef | None]:
    if isinstance(container, GraphNode):
        return container._nnx_entries(), None
    if isinstance(container, dict) and type(container) is dict:
        return container, None
    if isinstance(container, list) and type(container) is list:
        return dict(enumerate(container)), None
    entries, treedef = one_level(container)
    return dict(entries), treedef


class Watch:
    """Says whether containers and static values still are what they were.

    The dicts of an optimizer's state are many and small, and each call of a compiled function asks:
    all of them, and those inside States, are compared in a few passes that do not leave C.

    Args:
        watched: The containers.
        mutable: Static values with the keys of their content.
    """

    __slots__ = ("_dicts", "_keys", "_mutable", "_others", "_sizes", "_values", "_watched")

    def __init__(
        self, watched: Sequence[Watched], mutable: Iterable[tuple[object, object]]
    ) -> None:
        self._watched = watched
        self._mutable = list(mutable)
        self._dicts: list[dict[Key, object]] = []
        self._others: list[Watched] = []
        for each in watched:
            container = each.container
            if isinstance(container, GraphNode):
                self._dicts.append(vars(container))
            elif isinstance(container, State) and type(container) is State:
                self._dicts.append(container._mapping)
            elif isinstance(container, dict) and type(container) is dict:
                self._dicts.append(container)
            else:
                self._others.append(each)
        self._remember()

    def _remember(self) -> None:
        self._sizes = list(map(len, self._dicts))
        self._keys = list(chain.from_iterable(self._dicts))
        self._values = list(chain.from_iterable(map(dict.values, self._dicts)))

    def holds(self) -> bool:
        """Whether all is as it was; arrays may have been replaced."""
        if not all(content_key(value) == key for value, key in self._mutable):
            return False
        if self._dicts_are_same():
            return all(map(Watched.is_unchanged, self._others))
        if not all(map(Watched.is_unchanged, self._watched)):
            return False
        self._remember()
        return True

    def _dicts_are_same(self) -> bool:
        # By identity: `==` of arrays has no truth, and 1 == True.
        return (
            list(map(len, self._dicts)) == self._sizes
            and all(map(is_, chain.from_iterable(self._dicts), self._keys))
            and all(map(is_, chain.from_iterable(map(dict.values, self._dicts)), self._values))
        )


class Traversal:
    """One pass over an object graph, in the one order that there is.

    Args:
        index: Positions of objects that were met before.
        base: The position of the first item.
        afresh: Describe every object again, whatever it has cached.

    Attributes:
        items: The structure, item by item.
        objects: The object or Variable of each item, None for all else.
        leaves: The Variables and slots, in order.
        references: The bare array references, kept alive for their ids in `index`.
        has_slots: Whether some leaf is not a Variable.
        watched: What may change without telling.
        mutable: The static values that may change in place, with the keys of their content, by id.
        index: The position of each object, by id.
        base: As above.
    """

    __slots__ = (
        "_afresh", "_definitions", "_graphdef", "base", "has_slots", "index", "items", "leaves", "mutable",
        "objects", "references", "watched",
    )  # fmt: skip

    def __init__(
        self, index: dict[int, int] | None = None, base: int = 0, *, afresh: bool = False
    ) -> None:
        self._afresh = afresh
        self.base = base
        self._definitions: dict[tuple[type, int], VariableDef] = {}
        self._graphdef: GraphDef | None = None
        self.items: list[Item] = []
        self.objects: list[GraphNode | AnyVariable | None] = []
        self.leaves: list[Leaf] = []
        self.watched: list[Watched] = []
        self.mutable: dict[int, tuple[object, object]] = {}
        self.index: dict[int, int] = {} if index is None else index
        self.references: list[object] = []
        self.has_slots = False

    @classmethod
    def of_built(
        cls,
        structure: GraphDef,
        built: Mapping[int, GraphNode | AnyVariable],
        mutable: Iterable[tuple[object, object]],
    ) -> Self:
        """Return what a traversal would find in an object that was just built.

        Args:
            structure: Its structure, of objects and Variables only.
            built: The objects by position.
            mutable: The static values that may change in place, with their content keys.
        """
        traversal = cls({id(each): number for number, each in built.items()})
        traversal._graphdef = structure
        traversal.objects = [built.get(number) for number in range(len(structure.items))]
        traversal.leaves = [each for each in traversal.objects if isinstance(each, Variable)]
        traversal.mutable = {id(pair[0]): pair for pair in mutable}
        return traversal

    def visit(self, root: object) -> Self:
        """Traverse from a root: an object, a container, a Variable or a leaf."""
        self._child({"root": root}, "root", root, kind_of(root), -1, ())
        return self

    def _object(self, node: GraphNode) -> None:
        spec = (None if self._afresh else node._nnx_described) or node._nnx_spec()
        position = self._add(spec, node)
        if not spec.is_lasting:
            self.mutable.update({id(pair[0]): pair for pair in spec.mutable})
            if node._nnx_writes_past:
                self._watch(node, spec, vars(node))
        if spec.names:
            self._children(spec, vars(node), position, ())

    def _add(self, item: Item, node: GraphNode | AnyVariable) -> int:
        """Add an object, and return its position."""
        position = len(self.items)
        self.index[id(node)] = position + self.base
        self.items.append(item)
        self.objects.append(node)
        return position

    def _watch(self, node: object, spec: Spec, holder: Any) -> None:
        self.watched.append(Watched(node, spec, [holder[name] for name in spec.names]))

    def _container(self, node: object, above: tuple[int, ...]) -> None:
        if id(node) in above:
            raise GraphError.contains_itself((), node)
        spec = spec_of(node)
        position = len(self.items)
        self.items.append(spec)
        self.objects.append(None)
        holder = container_holder(node, spec)
        if not isinstance(node, tuple) and node is not None:
            self._watch(node, spec, holder)
        self._children(spec, holder, position, (*above, id(node)))

    def _children(self, spec: Spec, holder: Any, position: int, above: tuple[int, ...]) -> None:
        items, objects, leaves, index = self.items, self.objects, self.leaves, self.index
        base, afresh, definitions = self.base, self._afresh, self._definitions
        cls: type | None = None
        meta: Metadata | None = None
        definition: VariableDef | None = None
        for name in spec.names:
            child = holder[name]
            kind = kinds.get(type(child))
            if kind is None:
                kind = classify(child)
            # The two common cases, without another call.
            if kind == VARIABLE and id(child) not in index:
                variable: AnyVariable = child
                if definition is None or type(child) is not cls or variable._flat[1] is not meta:
                    cls, meta = type(child), variable._flat[1]
                    definition = definitions.get((cls, id(meta))) or self._define(variable)
                index[id(child)] = len(items) + base
                items.append(definition)
                objects.append(variable)
                leaves.append(variable)
            elif kind == OBJECT and id(child) not in index:
                node: GraphNode = child
                inner = node._nnx_described
                if inner is None or afresh:
                    self._object(node)
                    continue
                index[id(child)] = len(items) + base
                items.append(inner)
                objects.append(node)
                if inner.names:
                    self._children(inner, node.__dict__, len(items) - 1, ())
            else:
                self._child(holder, name, child, kind, position, above)

    def _child(
        self, holder: Any, name: Key, child: object, kind: Kind, owner: int, above: tuple[int, ...]
    ) -> None:
        if kind == CONTAINER:
            self._container(child, above)
            return
        seen = None if kind in (LEAF, STATIC) else self.index.get(id(child))
        if seen is not None:
            self.items.append(seen)
            self.objects.append(None)
        elif isinstance(child, Variable):
            self._add(self._define(child), child)
            self.leaves.append(child)
        elif isinstance(child, GraphNode):
            self._object(child)
        else:
            if kind == REFERENCE:
                self.index[id(child)] = len(self.items) + self.base
                self.references.append(child)
            self.has_slots = True
            self.items.append(REF_ITEM if kind == REFERENCE else LEAF_ITEM)
            self.objects.append(None)
            self.leaves.append(Slot(holder, name, owner))

    def _define(self, variable: AnyVariable) -> VariableDef:
        meta = variable._flat[1]
        self.mutable.update({id(pair[0]): pair for pair in meta.mutable})
        definition = VariableDef(type(variable), meta)
        return self._definitions.setdefault((type(variable), id(meta)), definition)

    @property
    def graphdef(self) -> GraphDef:
        """The structure."""
        if self._graphdef is None:
            self._graphdef = GraphDef(tuple(self.items), base=self.base)
        return self._graphdef

    def values(self) -> list[object]:
        """Return the leaves as States hold them: Variables, and what is in the slots."""
        return leaf_values(self.leaves)


def leaf_values(leaves: Iterable[Leaf]) -> list[object]:
    """Return the leaves as States hold them: Variables, and what is in the slots."""
    return [leaf.holder[leaf.name] if isinstance(leaf, Slot) else leaf for leaf in leaves]
