"""The outer side of a call: arguments with objects in them become trees of plain values."""

from __future__ import annotations

import enum
import operator
import weakref
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, TypeAlias, cast

import jax

from typed_nnx._core.cells import Bounded, graph_lock
from typed_nnx._core.filters import to_predicates
from typed_nnx._core.metadata import Metadata
from typed_nnx._core.nodes import (
    LEAF,
    OBJECT,
    REFERENCE,
    STATIC,
    VARIABLE,
    GraphNode,
    Spec,
    TreeDef,
    kind_of,
    kinds,
)
from typed_nnx._core.paths import Path, attribute_path, key_of_entry
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import GraphDef, VariableDef
from typed_nnx._graph.record import Record, record_of
from typed_nnx._graph.traversal import Slot, Traversal
from typed_nnx._graph.tree import check_one_prefix, same_prefix
from typed_nnx._transforms.engine.prefixes import (
    Node,
    Prefix,
    Tree,
    Value,
    broadcast,
    by_filter,
    holds_filters,
    pure_prefix,
)
from typed_nnx._transforms.engine.signature import Alias, Argument, Divided, Groups, Part, Signature


class Root(enum.Enum):
    """What a path begins with that is no argument: no name of an argument is equal to it."""

    CAPTURED = "captured"
    CARRY = "init_val"


CAPTURED, CARRY = Root.CAPTURED, Root.CARRY


def place_name(path: Path) -> str:
    """Return a path whose first key is a position, a name or a `Root` as text: ``model.w``."""
    first, *rest = path
    if isinstance(first, int):
        return f"args[{first}]{attribute_path(tuple(rest))}"
    if first is CARRY:
        return f"{CARRY.value}{attribute_path(tuple(rest))}"
    if first is CAPTURED:
        kind, *below = rest
        return f"captured {kind}{attribute_path(tuple(below))}"
    return f"{first}{attribute_path(tuple(rest))}"


def kind_of_result(value: object) -> str:
    """Return what a function returned, in words that do not hold on to it."""
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    if value is None or isinstance(value, jax.Array):
        return "None" if value is None else "an array"
    return f"a {type(value).__name__}"


def shown_tree(tree: object) -> str:
    """Return a tree with words in place of its leaves."""
    return repr(jax.tree.map(lambda leaf: Word(kind_of_result(leaf)), tree, is_leaf=is_object))


class Word:
    """Shows as a text without quotes."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def result_name(path: Path) -> str:
    """Return a path in the result as text: ``result[0].w``."""
    return f"result{attribute_path(path)}"


_PLAIN: frozenset[type] = frozenset({int, float, bool, complex, str, type(None), bytes})


def is_object(value: object) -> bool:
    """Whether a value is an object or Variable, which transforms take apart themselves."""
    return isinstance(value, GraphNode | Variable)


def holds_objects(tree: Tree) -> bool:
    """Whether there are objects in a tree."""
    return any(map(is_object, jax.tree.leaves(tree, is_leaf=is_object)))


class Input(NamedTuple):
    """One object among the arguments of a call, with the raw values of its leaves as they were gathered."""

    part: Part
    root: Node
    graph: Record | Traversal
    values: list[Value]

    def name_of(self, leaf: int) -> str:
        """Return where a leaf is, as text."""
        return place_name((*self.part.path, *self.part.graphdef.layout.paths[leaf]))

    def object_at(self, position: int) -> Node:
        """Return the object at a position, counted from the root."""
        return self.root if position == 0 else self.graph.objects[position]


def raw_values(graph: Record | Traversal) -> list[Value]:
    """Return the raw values of the leaves."""
    if graph.has_slots:
        return [
            leaf.holder[leaf.name] if isinstance(leaf, Slot) else leaf._flat[0][0]
            for leaf in graph.leaves
        ]
    return [variable._flat[0][0] for variable in cast("Iterable[Node]", graph.leaves)]


def read(record: Record) -> list[Value]:
    """Return the raw values of the leaves, all of one moment, and cache them.

    The list is never changed once it is filled.
    """
    cell = record.cell
    with graph_lock:
        if record.has_slots:
            return raw_values(record)
        values: list[Value] = []
        found: list[Value] = []
        for _ in range(100):  # another thread that never stops assigning must not stop this one
            # Known before it is filled: an assignment meanwhile drops it.
            cell.values = values
            found = raw_values(record)
            if cell.values is values:
                break
        values.extend(found)
    return found


class Call(NamedTuple):
    """One call, taken apart: there are values in place of objects.

    Attributes:
        prefixes: The prefixes of `args` in the form that jax takes.
        inputs: The objects among the arguments, one for each part.
    """

    signature: Signature
    args: tuple[Tree, ...]
    kwargs: dict[str, Tree]
    captured: tuple[Tree, ...]
    prefixes: tuple[Prefix, ...]
    inputs: list[Input]


class Gatherer:
    """Takes the arguments of one call apart."""

    __slots__ = ("_function", "_index", "_kept", "_offset", "inputs")

    def __init__(self, function: str) -> None:
        self._function = function
        self._offset = 0
        self._index: dict[int, int] | None = None
        self._kept = False
        self.inputs: list[Input] = []

    def are_trees(self) -> bool:
        """Whether all are trees of pytrees of jax, in which no object is reached on several paths."""
        return self._index is None and not any(
            type(item) is int
            or (type(item) is Spec and not getattr(item.cls, "_nnx_is_pytree", True))
            for each in self.inputs
            for item in each.part.graphdef.items
        )

    def argument(
        self, value: Tree, prefix: Prefix, path: Path, *, kept: bool = False
    ) -> tuple[Tree, Prefix, Argument | None]:
        """Return an argument as plain values, its prefix likewise, and what is static about it."""
        cls = type(value)
        if cls in _PLAIN or kinds.get(cls) == LEAF:
            return value, prefix, None
        self._kept = kept
        if isinstance(value, GraphNode | Variable):
            pure, part = self._object(value, prefix, path)
            return pure, pure_prefix(prefix), Argument(LEAF_TREE, (part,))
        leaves, treedef = jax.tree.flatten(value, is_leaf=is_object)
        if not any(map(is_object, leaves)):
            return value, prefix, None
        return self._tree(value, treedef, prefix, path)

    def captured(self, value: Tree, prefix: Prefix, *, kept: bool = False) -> tuple[Tree, Argument]:
        """Return an object that the function closes over as plain values."""
        self._kept = kept
        graph = self._graph_of(value)
        pure: Divided[Value] = []
        part: Part | Alias
        if isinstance(graph, int):  # it is an argument too, whose prefix counts
            part = Alias(graph, Groups(None, None))
        else:
            pure, part = self._add(value, graph, prefix, (CAPTURED, type(value).__name__))
        return pure, Argument(LEAF_TREE, (part,))

    def _add(
        self, root: Node, graph: Record | Traversal, prefix: Prefix, path: Path
    ) -> tuple[Divided[Value], Part]:
        """Add an object that was not met before; return its plain values and its part."""
        values = current_values(graph) if isinstance(graph, Record) else raw_values(graph)
        groups = self._groups(graph, prefix)
        part = Part(graph.graphdef, groups, self._offset, self._kept, path)
        self.inputs.append(Input(part, root, graph, values))
        self._offset += len(part.graphdef.items)
        return groups.divide(values), part

    def _tree(
        self, value: Tree, treedef: TreeDef, prefix: Prefix, path: Path
    ) -> tuple[Tree, Prefix, Argument]:
        entries = jax.tree_util.tree_leaves_with_path(value, is_leaf=is_object)
        prefixes = broadcast(prefix, treedef)
        parts: list[Part | Alias | None] = []
        pure: list[Tree] = []
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

    def _object(
        self, root: Node, prefix: Prefix, path: Path
    ) -> tuple[Divided[Value], Part | Alias]:
        graph = self._graph_of(root)
        if self._index is not None:
            self._check_prefix(root, path, prefix)
        if isinstance(graph, int):
            alias = Alias(graph, Groups(prefix, by_filter(prefix)))
            return alias.empty(), alias
        return self._add(root, graph, prefix, path)

    def _groups(self, graph: Record | Traversal, prefix: Prefix) -> Groups:
        filters = by_filter(prefix)
        if filters is None:
            return Groups(prefix, None)
        to_predicates(filters.filters)  # raises if `...` is not the last
        leaves = zip(graph.graphdef.layout.paths, graph.values(), strict=True)
        numbers = [filters.group_of(self._function, path, leaf) for path, leaf in leaves]
        return Groups(prefix, filters, tuple(numbers))

    def _graph_of(self, root: Node) -> Record | Traversal | int:
        """Return the graph of an object, or its number if it was met before."""
        if self._index is None:
            graph = record_of(root) if isinstance(root, Pytree) else Traversal().visit(root)
            if all(are_disjoint(each.graph, graph) for each in self.inputs):
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
        for each in self.inputs:
            for identity, position in each.graph.index.items():
                index[identity] = position + offset
            offset += len(each.part.graphdef.items)
        return index

    def _check_prefix(self, root: Node, path: Path, prefix: Prefix) -> None:
        """Raise if a Variable of an object that was met before has another prefix now."""
        if all(same_prefix(prefix, other.part.groups.prefix) for other in self.inputs):
            return
        graph: Traversal = Traversal().visit(root)
        part = Part(graph.graphdef, self._groups(graph, prefix), 0, False, path)
        known: dict[int, tuple[str, Prefix]] = {}
        for each in (*self.inputs, Input(part, root, graph, [])):
            for number, leaf in enumerate(each.graph.leaves):
                own = each.part.groups.prefix_of(number)
                check_one_prefix(known, leaf, each.name_of(number), own, self._function)


Graph: TypeAlias = "Record | Traversal | Variable[Any]"
"""What knows the structure of an object; of a Variable by itself it is the Variable."""


def are_disjoint(left: Graph, right: Graph) -> bool:
    """Whether two graphs have no object in common; remembered for records."""
    if left is right:
        return False
    if not (isinstance(left, Record) and isinstance(right, Record)):
        return _ids_in(left).isdisjoint(_ids_in(right))
    known = left.disjoint[id(right)]
    if known is not None and known() is right:
        return True
    found = left.index.keys().isdisjoint(right.index)
    if found:
        left.disjoint.pop(id(right), None)  # the id of one that is gone
        left.disjoint.add(id(right), weakref.ref(right))
    return found


def _ids_in(graph: Graph) -> AbstractSet[int]:
    return {id(graph)} if isinstance(graph, Variable) else graph.index.keys()


LEAF_TREE = jax.tree.structure(0)


# -- the quick way --------------------------------------------------------------------------------------

# What to do with an argument, by its type.
_VALUE = 0
_OBJECT = 1
_VARIABLE = 2
_CONTAINER = 3
_OPAQUE = 4  # nothing for jax: a text, a function, a configuration
_OTHER = 5

_codes: Bounded[type, int] = Bounded(2048)  # classes come and go


def _code_of(value: object) -> int:
    """Return what to do with an argument of a type that was not seen before."""
    cls, kind = type(value), kind_of(value)
    if kind in (LEAF, REFERENCE) or cls in (int, float, bool, complex, type(None)):
        code = _VALUE
    elif kind == OBJECT:
        code = _OBJECT
    elif kind == VARIABLE:
        code = _VARIABLE
    elif kind == STATIC:
        code = _OPAQUE
    else:
        code = _CONTAINER if cls in (list, dict, tuple) or _holds_its_items(value) else _OTHER
    return _codes.add(cls, code)


def _holds_its_items(value: object) -> bool:
    """Whether a value is a namedtuple whose children for jax are its items."""
    if not isinstance(value, tuple) or not hasattr(value, "_fields"):
        return False
    children = jax.tree.leaves(value, is_leaf=lambda child: child is not value)
    return len(children) == len(value) and all(map(operator.is_, children, value))


def is_plain(container: Tree) -> bool:
    """Whether a container holds arrays, numbers and containers of them, such as a batch."""
    for item in container.values() if type(container) is dict else container:
        code = _codes[type(item)]
        if code is None:
            code = _code_of(item)
        if code != _VALUE and not (code == _CONTAINER and is_plain(item)):
            return False
    return True


Source: TypeAlias = "Record | Variable[Any]"
"""What knows the values of an object: its record, or the Variable by itself."""


class QuickCall(NamedTuple):
    """Arguments that are plain values, or objects that have a record and share nothing.

    Attributes:
        key: What the signature depends on: for each argument None if it is plain.
        values: The arguments with lists of values in place of objects.
        graphs: The records of the objects; a Variable is one itself.
    """

    key: tuple[object, ...]
    values: list[Value]
    graphs: list[Source]

    def fits(self, signature: Signature) -> bool:
        """Whether a signature is for these structures; another thread may have changed one since."""
        keys = [key for key in self.key if key is not None]
        now = [_key_of(part.graphdef) for part in signature.parts]
        return keys == now

    def inputs(self, args: Sequence[Tree], parts: Sequence[Part]) -> list[Input]:
        """Return the objects among the arguments, as the general way does."""
        objects = [number for number, key in enumerate(self.key) if key is not None]
        return [
            Input(
                part,
                args[number],
                graph if isinstance(graph, Record) else Traversal().visit(graph),
                self.values[number],
            )
            for number, graph, part in zip(objects, self.graphs, parts, strict=True)
        ]


def quick_call(args: Sequence[Tree], statics: frozenset[int]) -> QuickCall | None:
    """Take positional arguments apart, `statics` left as they are; None if only the general way will do."""
    key: list[object] = []
    values: list[Value] = []
    graphs: list[Source] = []
    for arg in args:
        code = _codes[type(arg)]
        if code is None:
            code = _code_of(arg)
        is_static = statics and len(key) in statics
        if (
            code == _VALUE
            or (code == _CONTAINER and is_plain(arg))
            or (is_static and (code == _OPAQUE or not holds_objects(arg)))
        ):
            key.append(None)
            values.append(arg)
            continue
        if code == _OBJECT and not is_static:
            graph = arg._nnx_record
            if graph is None or not graph.is_current():
                graph = record_of(arg)
            key.append(graph.graphdef.token)
            values.append(graph.cell.values or read(graph))
        elif code == _VARIABLE and not is_static and type(arg._flat[1]) is Metadata:
            graph = arg
            key.append((type(arg), arg._flat[1]))
            values.append(arg._flat[0].copy())
        else:
            return None
        for other in graphs:
            if not are_disjoint(other, graph):
                return None
        graphs.append(graph)
    if len(graphs) > 1:
        _read_together(key, values, graphs)
    return _new_tuple(QuickCall, (tuple(key), values, graphs))


def _read_together(key: Sequence[object], values: list[Value], graphs: Iterable[Source]) -> None:
    """Read the values of several objects at one moment: a call of another thread may write them."""
    with graph_lock:
        following = iter(graphs)
        for number, part in enumerate(key):
            if part is not None:
                values[number] = current_values(next(following))


def _key_of(structure: GraphDef) -> object:
    root = structure.items[0]
    return (root.cls, root.meta) if isinstance(root, VariableDef) else structure.token


# What a NamedTuple's own constructor does, less a call in Python.
_new_tuple = tuple.__new__


def current_values(graph: Source) -> list[Value]:
    """Return the raw values of the leaves."""
    if isinstance(graph, Record):
        return graph.cell.values or read(graph)
    return graph._flat[0].copy()
