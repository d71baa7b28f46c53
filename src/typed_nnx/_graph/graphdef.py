"""`GraphDef`: the static structure of an object graph, hashable and interned."""

from __future__ import annotations

import builtins
import dataclasses
import itertools
import operator
from abc import ABC, abstractmethod
from collections.abc import (
    Callable,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from typing import Any, ClassVar, Generic, Never, ParamSpec, Protocol, Self, TypeAlias, overload

import jax
from typing_extensions import TypeVar

from typed_nnx._core.cells import Bounded
from typed_nnx._core.metadata import Metadata
from typed_nnx._core.nested import Nested, flat_items, level_of
from typed_nnx._core.nodes import Spec, Token, token_for
from typed_nnx._core.paths import Key, Node, Path, Value, attribute_path, sorted_keys
from typed_nnx._core.state import FlatState, State
from typed_nnx._core.variable import AnyVariable

M = TypeVar("M", default=Any)
M_co = TypeVar("M_co", covariant=True)
P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)


class VariableDef:
    """The structure of one Variable: its type and metadata."""

    __slots__ = ("cls", "meta", "token")

    def __init__(self, cls: type[AnyVariable], meta: Metadata) -> None:
        self.cls: type[AnyVariable] = cls
        self.meta: Metadata = meta
        self.token: Token = token_for((cls, meta.key))

    @property
    def mutable(self) -> tuple[tuple[object, object], ...]:
        """The metadata without a hash, each value with the key of its content."""
        return self.meta.mutable

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VariableDef) and self.token is other.token

    def __hash__(self) -> int:
        return hash((self.cls, self.meta))

    def __repr__(self) -> str:
        return f"VariableDef({self.cls.__name__}, {self.meta!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return VariableDef, (self.cls, self.meta)


LEAF_ITEM = "leaf"
REF_ITEM = "ref"

# What builds the State of each filter from all leaves, and the leaves that no filter takes.
Plan: TypeAlias = tuple[list[Callable[[Sequence[Value]], Nested]], list[int]]

# A node, a Variable, a leaf, or the position of an object that was met before.
Item: TypeAlias = Spec | VariableDef | str | int


_WITH_TOKEN = (VariableDef, Spec)


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


NodeDefType: TypeAlias = NodeDef | NodeRef | TreeNodeDef | VariableDef


class Layout:
    """Where the leaves are; one object for all structures that are equal.

    Attributes:
        tree: A nested dict from keys to the numbers of the leaves; 0 if the root is a leaf.
        plans: How to build the States of each tuple of filters.
    """

    __slots__ = ("_names", "_paths", "plans", "tree")

    def __init__(self, tree: Nested | int) -> None:
        self.tree: Nested | int = tree
        self.plans: Bounded[Hashable, Plan] = Bounded(32)
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
            leaves = [((), 0)] if isinstance(self.tree, int) else flat_items(self.tree)
            self._paths = tuple([path for path, _ in leaves])
        return self._paths


class _Calls(Protocol[P, R_co, S_co]):
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
    def __nnx_state__(self, /) -> S_co: ...


class _Merged(Generic[M_co]):
    """Carries the object's type, so that it and the signature of its call are both known."""

    __slots__ = ()


class AppliedPart(Protocol[M]):
    """What is inside the object of an `Applied`: it may be anything."""

    def __getattr__(self, name: str, /) -> AppliedPart[M]: ...
    def __getitem__(self, key: object, /) -> AppliedPart[M]: ...
    def __call__(
        self, *args: object, **kwargs: object
    ) -> tuple[Any, tuple[GraphDef[M], State[Key, Value, M, Any]]]: ...


class Applied(_Merged[M_co], ABC):
    """What `GraphDef.apply` returns: it calls the object, or what is inside it, on a copy."""

    __slots__ = ()

    def __getattr__(self, name: str, /) -> AppliedPart[M_co]:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._nnx_part(operator.attrgetter(name))

    def __getitem__(self, key: object, /) -> AppliedPart[M_co]:
        return self._nnx_part(operator.itemgetter(key))

    @overload
    def __call__(
        self: _Merged[Never], *args: object, **kwargs: object
    ) -> tuple[Any, tuple[GraphDef, State]]: ...
    @overload
    def __call__(
        self: _Merged[_Calls[P, R, S]], *args: P.args, **kwargs: P.kwargs
    ) -> tuple[R, tuple[GraphDef[M_co], S]]: ...
    def __call__(self: Any, *args: Value, **kwargs: Value) -> Value:
        """Return the output, and what the object is after the call."""
        return self._nnx_call(args, kwargs)

    @abstractmethod
    def _nnx_part(self, step: Callable[[Node], Node]) -> AppliedPart[M_co]: ...
    @abstractmethod
    def _nnx_call(self, args: tuple[object, ...], kwargs: dict[str, object]) -> object: ...


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
        unwatched: Whether it has objects and Variables only, and the static values in it that may
            change in place with their content keys; None before `record.adopt` asked.
    """

    __slots__ = (
        "__weakref__", "_is_hashable", "_leaf_items", "base", "is_tree", "items", "outer", "token", "unwatched",
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
        self._leaf_items: tuple[Item, ...] | None = None
        self.is_tree: bool = False
        self._is_hashable = False  # not known yet
        self.unwatched: tuple[bool, list[tuple[object, object]]] | None = None
        tokens = tuple([item.token if isinstance(item, _WITH_TOKEN) else item for item in items])
        self.token: Token = token_for((tokens, base, outer))
        if layout is not None:
            self.token.layout = layout

    # Given by the module that merges, which builds on this one.
    _apply: ClassVar[Callable[[GraphDef, tuple[Value, ...]], Any]]

    def apply(self, state: object, *states: object, graph: bool | None = None) -> Applied[M]:
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
        """Where the leaves are; worked out once for all equal structures."""
        found: Layout | None = self.token.layout
        if found is None:
            remaining = iter(self.items)
            tree = _place_of(next(remaining), remaining, itertools.count())
            # An object of an earlier part of a sequence has no leaves here.
            found = self.token.layout = Layout({} if tree is None else tree)
        return found

    @property
    def leaf_items(self) -> tuple[Item, ...]:
        """The item of each leaf."""
        if self._leaf_items is None:
            self._leaf_items = tuple(
                [item for item in self.items if type(item) is not Spec and type(item) is not int]
            )
        return self._leaf_items

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
    def attributes(self) -> list[tuple[Key, Value]]:
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
        return len(self.leaf_items)

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

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.items, self.base, self.outer, self.is_tree)

    def __deepcopy__(self, memo: dict[int, object]) -> GraphDef[M]:
        return self  # immutable

    def without_outer(self) -> GraphDef[M]:
        """Return the structure without the numbers of an update context."""
        return self if self.outer is None else GraphDef(self.items, base=self.base)

    def of_mode(self, is_tree: bool) -> Self:
        """Return the structure as `split` with this ``graph=`` returns it; the two are equal."""
        if self.is_tree is is_tree:
            return self
        made = object.__new__(type(self))
        for name in _SLOTS:
            setattr(made, name, getattr(self, name))
        made.is_tree = is_tree
        return made

    def where(self, number: int) -> str:
        """Return the path of a leaf as text."""
        return attribute_path(self.layout.paths[number])


_SLOTS = [name for name in GraphDef.__slots__ if name != "__weakref__"]


def _rebuild(
    items: tuple[Item, ...], base: int, outer: tuple[int | None, ...] | None, is_tree: bool = False
) -> object:
    return GraphDef(items, base=base, outer=outer).of_mode(is_tree)


def _place_of(item: Item, remaining: Iterator[Item], numbers: Iterator[int]) -> Nested | int | None:
    """Return the number of a leaf, the level of a node, or None for an object met before."""
    if isinstance(item, int):
        return None
    if not isinstance(item, Spec):
        return next(numbers)
    level: Nested = {}
    for key in item.keys:
        below = _place_of(next(remaining), remaining, numbers)
        if below is not None and below != {}:
            level[key] = below
    # Only dicts and other containers have keys of several types.
    return level if item.is_object else level_of(level)


PureState: TypeAlias = tuple[GraphDef[M], State[Key, Value, M, Any]]
"""What `split` without filters returns."""


jax.tree_util.register_pytree_node(
    GraphDef, lambda graphdef: ((), graphdef), lambda graphdef, _: graphdef
)


class GraphState(MutableMapping[Key, Value], Generic[M]):
    """A GraphDef and a State in one pytree; what `unpack` returns and `merge` takes.

    Fields of the State are read as items or attributes.
    """

    __slots__ = ("__weakref__", "graphdef", "state")

    def __init__(self, graphdef: GraphDef[M], state: State[Key, Value, M, Any]) -> None:
        self.graphdef: GraphDef[M] = graphdef
        self.state: State[Key, Value, M, Any] = state

    @property
    def _graphdef(self) -> GraphDef[M]:
        return self.graphdef

    @property
    def _state(self) -> State[Key, Value, M, Any]:
        return self.state

    def __getitem__(self, key: object) -> Value:
        return self.state[key]

    def __setitem__(self, key: object, value: object) -> None:
        self.state[key] = value

    def __delitem__(self, key: object) -> None:
        del self.state[key]

    def __getattr__(self, name: str) -> Value:
        if name.startswith("__") or name in ("graphdef", "state"):
            raise AttributeError(f"GraphState has no attribute {name!r}")
        return getattr(self.state, name)

    def __iter__(self) -> Iterator[Key]:
        return iter(self.state)

    def __len__(self) -> int:
        return len(self.state)

    def __contains__(self, key: object) -> bool:
        return key in self.state

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *dir(self.state)})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphState):
            return NotImplemented
        return self.graphdef == other.graphdef and self.state == other.state

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # its State is mutable

    def __repr__(self) -> str:
        return f"GraphState(\n  {self.graphdef!r},\n  {self.state!r}\n)"


_Parts = tuple[GraphDef, bool, tuple[Value, ...]]


def _children(graph_state: GraphState) -> tuple[list[tuple[object, object]], _Parts]:
    # The entries of the State are the children, so that paths are those of the State.
    inner = graph_state.state
    if not isinstance(inner, State):
        return [(jax.tree_util.GetAttrKey("state"), inner)], (graph_state.graphdef, False, ())
    keys = tuple(sorted_keys(inner._mapping))
    entries = [(jax.tree_util.DictKey(key), inner._mapping[key]) for key in keys]
    return entries, (graph_state.graphdef, True, keys)


def _unflatten_graph_state(parts: _Parts, children: Value) -> GraphState:
    graphdef, is_state, keys = parts
    if not is_state:
        return GraphState(graphdef, next(iter(children)))
    return GraphState(graphdef, State._of(dict(zip(keys, children, strict=True))))


jax.tree_util.register_pytree_with_keys(GraphState, _children, _unflatten_graph_state)


# With the type of the object in it, mypy would infer Any for a State of no known object.
StateLike: TypeAlias = State | GraphState | FlatState[Value] | Mapping[Key, Value]
"""What is taken for a State."""

AnyTree: TypeAlias = StateLike | jax.typing.ArrayLike | Iterable[Any]
"""What optax says of a State that it returns, as `optax.apply_updates` does: any tree."""
