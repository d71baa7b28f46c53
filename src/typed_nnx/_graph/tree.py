"""Trees with objects in them, as trees of (GraphDef, State): `to_tree`, `from_tree`, `prefix`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import jax

from typed_nnx._core.filters import Filter, to_predicate
from typed_nnx._core.nested import describe_leaf
from typed_nnx._core.nodes import GraphNode
from typed_nnx._core.paths import Path, Tree, Value, attribute_path, key_of_entry
from typed_nnx._core.settings import MISSING
from typed_nnx._core.variable import Variable
from typed_nnx._graph.context import (
    MergeContext,
    SplitContext,
    flatten,
    merge_context,
    split_context,
)
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx.errors import GraphError, NoFilterMatchedError, PrefixConflictError


@jax.tree_util.register_pytree_with_keys_class
@dataclasses.dataclass(frozen=True)
class NodeStates:
    """The structure and States of one object, as a pytree whose children are the States.

    Attributes:
        _graphdef: The structure; None where only the States count, as in a prefix.
        states: The States.
        metadata: Anything static that travels with it.
    """

    _graphdef: GraphDef | None
    states: tuple[Tree, ...]
    metadata: Any

    @property
    def graphdef(self) -> GraphDef:
        """The structure."""
        if self._graphdef is None:
            raise GraphError(
                "NodeStates",
                "it has no GraphDef; it was made by from_states.",
                "NodeStates.from_split(graphdef, state)",
            )
        return self._graphdef

    @property
    def state(self) -> Tree:
        """The State, if there is one only."""
        if len(self.states) != 1:
            raise GraphError(
                "NodeStates", f"expected one State, there are {len(self.states)}.", "use .states"
            )
        return self.states[0]

    @classmethod
    def from_split(
        cls, graphdef: GraphDef | None, state: object, /, *states: object, metadata: object = None
    ) -> NodeStates:
        """Build it from what `split` returned."""
        return cls(graphdef, (state, *states), metadata)

    @classmethod
    def from_states(cls, state: object, *states: object) -> NodeStates:
        """Build one without a structure, to stand for prefixes."""
        return cls(None, (state, *states), None)

    def replace(self, **updates: Tree) -> NodeStates:
        """Return it with other values of some attributes."""
        return dataclasses.replace(self, **updates)

    @classmethod
    def from_prefixes(cls, prefixes: Tree, /, *, metadata: Any = None) -> NodeStates:
        """Build one of prefixes, one for each State."""
        return cls(None, tuple(prefixes), metadata)

    def tree_flatten_with_keys(self) -> tuple[tuple[tuple[object, Tree], ...], object]:
        """Return the structure and the States with keys, and what is static."""
        key = jax.tree_util.GetAttrKey
        return (
            (key("_graphdef"), self._graphdef),  # a node without leaves: None is a prefix of it
            (key("states"), self.states),
        ), self.metadata

    @classmethod
    def tree_unflatten(cls, metadata: Any, children: Tree) -> NodeStates:
        """Build it from what is static, and the structure and States."""
        return cls(children[0], children[1], metadata)


def is_tree_node(value: object, /) -> bool:
    """Whether a value is what `to_tree` puts in place of an object."""
    return isinstance(value, NodeStates)


def is_graph_node(x: object) -> bool:
    """Whether a value is an object or Variable, which `to_tree` replaces."""
    return isinstance(x, GraphNode | Variable)


def default_split_fn(
    ctx: SplitContext, path: tuple[object, ...], prefix: object, node: object, /
) -> NodeStates:
    """Split an object into one State."""
    del path, prefix
    return NodeStates.from_split(*ctx.split(node))


def merge_tree_node(
    ctx: MergeContext, path: tuple[object, ...], prefix: Tree, value: Tree, /
) -> Tree:
    """Merge what `default_split_fn` made."""
    del path, prefix
    return ctx.merge(value.graphdef, *value.states)


def broadcast_prefix(prefix: object, tree: object, is_leaf: Callable[[Tree], bool]) -> list[Tree]:
    """Return the leaf of a tree prefix that stands for each leaf of a tree."""
    found: list[object] = []

    def add(leaf: object, below: object) -> None:
        found.extend([leaf] * len(jax.tree.leaves(below, is_leaf=is_leaf)))

    jax.tree.map(add, prefix, tree, is_leaf=lambda value: value is None or is_leaf(value))
    return found


def check_one_prefix(
    known: dict[int, tuple[str, Any]], leaf: object, where: str, prefix: Any, function: str = ""
) -> None:
    """Raise if a Variable has another prefix elsewhere.

    Args:
        known: Where Variables are and their prefixes, by id; this one is added.
        leaf: What is no Variable passes.
        where: Where it is.
        prefix: Its prefix there.
        function: The transform and the function, for the error.
    """
    if isinstance(leaf, Variable):
        before = known.setdefault(id(leaf), (where, prefix))
        if not same_prefix(before[1], prefix):
            raise PrefixConflictError([before, (where, prefix)], type(leaf).__name__, function)


def same_prefix(left: Any, right: Any) -> bool:
    """Whether two prefixes are equal."""
    return left is right or (type(left) is type(right) and bool(left == right))


def clear_non_graph_nodes(tree: object) -> Tree:
    """Return a pytree with None in place of every leaf that is no object."""
    return jax.tree.map(
        lambda leaf: leaf if is_graph_node(leaf) else None, tree, is_leaf=is_graph_node
    )


def to_tree(
    tree: object,
    /,
    *,
    prefix: object = MISSING,
    split_fn: Callable[[SplitContext, tuple[Any, ...], Tree, Tree], Tree] = default_split_fn,
    map_non_graph_nodes: bool = False,
    ctxtag: Hashable | None = None,
    check_aliasing: bool = True,
) -> Tree:
    """Return a pytree with `NodeStates` in place of its objects; sharing is kept.

    Args:
        tree: A pytree with objects in it.
        prefix: A tree prefix of `tree`; its leaves are passed to `split_fn`.
        split_fn: Makes a pytree of (context, path, prefix, object).
        map_non_graph_nodes: Call `split_fn` for other leaves too.
        ctxtag: The update context that the objects belong to.
        check_aliasing: Raise if one object is reached with different prefixes.

    Raises:
        PrefixConflictError: See `check_aliasing`; both paths are named.
    """
    entries, treedef = jax.tree_util.tree_flatten_with_path(tree, is_leaf=is_graph_node)
    has_prefix = prefix is not MISSING
    prefixes = (
        broadcast_prefix(prefix, tree, is_graph_node) if has_prefix else [None] * len(entries)
    )
    known: dict[int, tuple[str, object]] = {}
    leaves = []
    with split_context(ctxtag) as context:
        for (path, leaf), own in zip(entries, prefixes, strict=True):
            if is_graph_node(leaf):
                if check_aliasing and has_prefix:
                    for below, variable in flatten(leaf)[1]:
                        where = attribute_path((*map(key_of_entry, path), *below))
                        check_one_prefix(known, variable, where, own)
                leaves.append(split_fn(context, path, own, leaf))
            else:
                leaves.append(split_fn(context, path, own, leaf) if map_non_graph_nodes else leaf)
    return jax.tree_util.tree_unflatten(treedef, leaves)


def from_tree(
    tree: object,
    /,
    *,
    prefix: object = MISSING,
    merge_fn: Callable[[MergeContext, tuple[Any, ...], Tree, Tree], Tree] = merge_tree_node,
    is_node_leaf: Callable[[Tree], bool] = is_tree_node,
    is_leaf: Callable[[Tree], bool] = is_tree_node,
    map_non_graph_nodes: bool = False,
    is_inner: bool | None = None,
    ctxtag: Hashable | None = None,
) -> Tree:
    """Return the pytree with objects again: the inverse of `to_tree`.

    Args:
        tree: What `to_tree` returned.
        prefix: A tree prefix of `tree`; its leaves are passed to `merge_fn`.
        merge_fn: Makes an object of (context, path, prefix, leaf).
        is_node_leaf: Which leaves `merge_fn` is called for.
        is_leaf: What counts as a leaf.
        map_non_graph_nodes: Call `merge_fn` for other leaves too.
        is_inner: Whether this is the merge inside a jax function; needed with `ctxtag`.
        ctxtag: The update context that the objects belong to.
    """
    entries, treedef = jax.tree_util.tree_flatten_with_path(tree, is_leaf=is_leaf)
    has_prefix = prefix is not MISSING
    prefixes = broadcast_prefix(prefix, tree, is_leaf) if has_prefix else [None] * len(entries)
    leaves = []
    with merge_context(ctxtag, is_inner) as context:
        for (path, leaf), own in zip(entries, prefixes, strict=True):
            chosen = map_non_graph_nodes or is_node_leaf(leaf)
            leaves.append(merge_fn(context, path, own, leaf) if chosen else leaf)
    return jax.tree_util.tree_unflatten(treedef, leaves)


def prefix(
    node: object,
    filter_map: Mapping[Filter, object] | Callable[[Path, Value], Value],
    /,
    *,
    graph: bool | None = None,
) -> Tree:
    """Return a pytree prefix of `node`: the leaves are what a map from filters says.

    Args:
        node: A pytree with objects in it.
        filter_map: A function of (path, leaf), or a mapping from filters to prefixes (the first
            filter that matches counts).
        graph: Accepted for compatibility.

    Returns:
        `node` with a prefix in place of each Variable and array.
    """
    del graph
    choose = filter_map if callable(filter_map) else _chooser(filter_map)
    entries, treedef = jax.tree_util.tree_flatten_with_path(
        node, is_leaf=lambda value: isinstance(value, Variable)
    )
    leaves = [choose(tuple(map(key_of_entry, path)), leaf) for path, leaf in entries]
    return jax.tree_util.tree_unflatten(treedef, leaves)


def _chooser(filter_map: Mapping[Filter, object]) -> Callable[[Path, Value], Value]:
    rules = [(to_predicate(filter_), value) for filter_, value in filter_map.items()]

    def choose(path: Path, leaf: object) -> Tree:
        for predicate, value in rules:
            if predicate(path, leaf):
                return value
        raise NoFilterMatchedError("prefix", [(path, describe_leaf(leaf))])

    return choose
