"""`GraphDef`: the static structure of an object graph, hashable and interned."""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Generic, Protocol, Self, TypeAlias

import jax
from typing_extensions import TypeVar

from typed_nnx._core.metadata import Metadata
from typed_nnx._core.nested import Nested, level_of
from typed_nnx._core.nodes import Spec, Token, token_for
from typed_nnx._core.paths import Path, attribute_path
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable

M = TypeVar("M", default=Any)


class VariableDef:
    """The structure of one Variable: its type and metadata."""

    __slots__ = ("cls", "meta", "token")

    def __init__(self, cls: type[Variable[Any]], meta: Metadata) -> None:
        self.cls: type[Variable[Any]] = cls
        self.meta: Metadata = meta
        self.token: Token = token_for((cls, meta.key))

    @property
    def mutable(self) -> tuple[tuple[Any, Any], ...]:
        """The metadata without a hash, each value with the key of its content."""
        return self.meta.mutable

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VariableDef) and self.token is other.token

    def __hash__(self) -> int:
        return hash((self.cls, self.meta))

    def __repr__(self) -> str:
        return f"VariableDef({self.cls.__name__}, {self.meta!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return VariableDef, (self.cls, self.meta)


LEAF_ITEM = "leaf"
REF_ITEM = "ref"

# A node, a Variable, a leaf, or the position of an object that was met before.
Item: TypeAlias = Spec | VariableDef | str | int


_WITH_TOKEN = frozenset({Spec, VariableDef})


@dataclasses.dataclass(frozen=True, slots=True)
class NodeDef(Generic[M]):
    """An object or a container, as `GraphDef.nodes` lists it.

    Args:
        type: Its type.
        index: Its position in the structure.
        outer_index: Its outer number in an update context.
        num_attributes: How many children and static values it has.
    """

    type: builtins.type[M]
    index: int
    outer_index: int | None
    num_attributes: int


@dataclasses.dataclass(frozen=True, slots=True)
class NodeRef:
    """An object that was met before, as `GraphDef.nodes` lists it.

    Args:
        index: Its position in the structure.
    """

    index: int


@dataclasses.dataclass(frozen=True, slots=True)
class TreeNodeDef(Generic[M]):
    """The whole of what was split with ``graph=False``, as `GraphDef.nodes` lists it.

    Args:
        type: The type of the root.
        path_index: The path and the number of each leaf.
    """

    type: builtins.type[M]
    path_index: tuple[tuple[Path, int], ...]


NodeDefType: TypeAlias = NodeDef[Any] | NodeRef | TreeNodeDef[Any] | VariableDef


class Layout:
    """Where the leaves of a structure are.

    Attributes:
        tree: A nested dict from keys to the numbers of the leaves; 0 if the root is a leaf.
        items: The item of each leaf.
    """

    __slots__ = ("_names", "_paths", "items", "tree")

    def __init__(self, tree: Any, items: tuple[Item, ...]) -> None:
        self.tree: Any = tree
        self.items: tuple[Item, ...] = items
        self._paths: tuple[Path, ...] | None = None
        self._names: tuple[str, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The path of each leaf as one writes it in Python: ``.layers[0].kernel``."""
        if self._names is None:
            self._names = tuple(map(attribute_path, self.paths))
        return self._names

    @property
    def paths(self) -> tuple[Path, ...]:
        """The path of each leaf."""
        if self._paths is None:
            self._paths = tuple(_paths(self.tree, ()))
        return self._paths


def _paths(tree: Any, path: Path) -> Iterator[Path]:
    if type(tree) is int:
        yield path
        return
    for key, place in tree.items():
        if type(place) is int:
            yield (*path, key)
        else:
            yield from _paths(place, (*path, key))


class Applied(Protocol[M]):
    """What `GraphDef.apply` returns: it calls the object, or what is inside it, on a copy."""

    def __getattr__(self, name: str) -> Applied[M]: ...
    def __getitem__(self, key: Any) -> Applied[M]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, tuple[GraphDef[M], Any]]:
        """Return the output, and what the object is after the call."""
        ...


class GraphDef(Generic[M]):
    """All that is static about an object graph; the counterpart of jax's ``PyTreeDef``.

    Two GraphDefs are equal when types, attribute names, static values (with their types), metadata
    and the sharing of objects are equal; comparison takes one step. Static values without a hash are
    compared by their content when the structure was made.

    Attributes:
        items: What a depth-first traversal meets, in order.
        base: The position of the first item; not 0 for a part of a sequence of splits.
        outer: In an update context, the outer number of each item that came from outside.
        is_tree: It was made with ``graph=False``. This only changes what `nodes` lists.
    """

    __slots__ = (
        "__weakref__", "_is_hashable", "_layout", "base", "is_tree", "items", "outer", "token",
    )  # fmt: skip

    def __init__(
        self,
        items: tuple[Item, ...],
        *,
        base: int = 0,
        outer: tuple[int | None, ...] | None = None,
        layout: Layout | None = None,
    ) -> None:
        self.items: tuple[Item, ...] = items
        self.base: int = base
        self.outer: tuple[int | None, ...] | None = outer
        self._layout = layout
        self.is_tree: bool = False
        self._is_hashable = False  # not known yet
        tokens = tuple(
            [item.token if type(item) in _WITH_TOKEN else item for item in items]  # type: ignore[union-attr]  # these two have one
        )
        self.token: Token = token_for((tokens, base, outer))

    # Given by the module that merges, which builds on this one.
    _apply: ClassVar[Callable[[GraphDef[Any], tuple[Any, ...]], Any]]

    def apply(self, state: Any, *states: Any, graph: bool | None = None) -> Applied[M]:
        """Return what calls the object that the structure and States stand for.

        ``output, (graphdef, state) = graphdef.apply(state)(x)`` merges a copy, calls it and splits
        it again; attributes and items lead to methods of what is inside.

        Args:
            state: What `split` returned with this structure.
            *states: More States.
            graph: Accepted for compatibility.
        """
        del graph
        applied: Applied[M] = GraphDef._apply(self, (state, *states))
        return applied

    @property
    def layout(self) -> Layout:
        """Where the leaves are; worked out once."""
        if self._layout is None:
            self._layout = _layout(self.items)
        return self._layout

    @property
    def descriptions(self) -> list[Spec | VariableDef]:
        """The descriptions of nodes and Variables, in order."""
        return [item for item in self.items if isinstance(item, Spec | VariableDef)]

    @property
    def nodes(self) -> list[NodeDefType]:
        """The nodes, references to nodes met before, and Variables, in order.

        What was made with ``graph=False`` has one node, followed by the Variables.
        """
        listed = self.descriptions
        if self.is_tree:
            root: Any = listed[0].cls if listed else jax.Array
            places = zip(self.layout.paths, range(self.num_leaves), strict=True)
            variables = [item for item in listed if isinstance(item, VariableDef)]
            return [TreeNodeDef(root, tuple(places)), *variables]
        outer = self.outer or (None,) * len(self.items)
        return [
            NodeDef(item.cls, position, number, len(item.template))
            if isinstance(item, Spec)
            else NodeRef(item)
            if isinstance(item, int)
            else item
            for position, (item, number) in enumerate(
                zip(self.items, outer, strict=True), self.base
            )
            if not isinstance(item, str)
        ]

    @property
    def attributes(self) -> list[tuple[Any, Any]]:
        """The static attributes of all nodes, in order."""
        return [entry for item in self.items if isinstance(item, Spec) for entry in item.statics]

    @property
    def is_objects_only(self) -> bool:
        """Whether it has no plain containers and no bare arrays."""
        return all(
            item.is_object if isinstance(item, Spec) else not isinstance(item, str)
            for item in self.items
        )

    @property
    def num_leaves(self) -> int:
        """The number of leaves that a State of this structure has."""
        return len(self.layout.items)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, GraphDef):
            return NotImplemented
        return self.token is other.token

    def __hash__(self) -> int:
        if not self._is_hashable:
            for item in self.descriptions:
                hash(item)  # raises, and names the attribute, if something in it has none
            self._is_hashable = True
        return hash(self.token)

    def __repr__(self) -> str:
        root = self.items[0]
        name = root.cls.__name__ if isinstance(root, Spec | VariableDef) else str(root)
        lines = "".join(f"\n  {item!r}" for item in self.items)
        return f"GraphDef({name}, {len(self.descriptions)} nodes, {self.num_leaves} leaves){lines}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.items, self.base, self.outer, self.is_tree)

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphDef[M]:
        return self  # immutable

    def without_outer(self) -> GraphDef[M]:
        """Return the structure without the numbers of an update context."""
        return self if self.outer is None else GraphDef(self.items, base=self.base)

    def of_mode(self, is_tree: bool) -> Self:
        """Return the structure as `split` with this ``graph=`` returns it; the two are equal."""
        if self.is_tree is is_tree:
            return self
        made = object.__new__(type(self))
        made.items, made.base, made.outer, made.token = (
            self.items, self.base, self.outer, self.token,
        )  # fmt: skip
        made._layout, made._is_hashable, made.is_tree = self.layout, self._is_hashable, is_tree
        return made

    def where(self, number: int) -> str:
        """Return the path of a leaf as text."""
        return attribute_path(self.layout.paths[number])


def _rebuild(
    items: tuple[Item, ...], base: int, outer: tuple[int | None, ...] | None, is_tree: bool = False
) -> Any:
    return GraphDef(items, base=base, outer=outer).of_mode(is_tree)


def _layout(items: tuple[Item, ...]) -> Layout:
    leaves: list[Item] = []
    remaining = iter(items)

    def level_for(spec: Spec) -> Nested:
        level: Nested = {}
        for key in spec.keys:
            item = next(remaining)
            if type(item) is Spec:
                below = level_for(item)
                if below:
                    level[key] = below
            elif type(item) is not int:
                level[key] = len(leaves)
                leaves.append(item)
        # Only dicts and other containers have keys of several types.
        return level if spec.is_object else level_of(level)

    root = next(remaining)
    tree: Any = {}
    if type(root) is Spec:
        tree = level_for(root)
    elif type(root) is not int:  # an object of an earlier part of a sequence has no leaves here
        tree = 0
        leaves.append(root)
    level_for = None  # type: ignore[assignment]  # it refers to itself: end the cycle
    return Layout(tree, tuple(leaves))


def _unflatten(graphdef: GraphDef[Any], children: Any) -> GraphDef[Any]:
    return graphdef


PureState: TypeAlias = tuple[GraphDef[M], State[Any, Any, M, Any]]
"""What `split` without filters returns."""


jax.tree_util.register_pytree_node(GraphDef, lambda graphdef: ((), graphdef), _unflatten)
