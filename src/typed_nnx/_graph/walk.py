"""Functions that go over an object graph and return a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import jax

from typed_nnx._core.cells import graph_lock
from typed_nnx._core.filters import Filter, Predicate, to_predicate
from typed_nnx._core.jax_runtime import is_array_ref, new_array_ref
from typed_nnx._core.metadata import warn_of_hijax
from typed_nnx._core.nodes import (
    CONTAINER,
    LEAF,
    OBJECT,
    VARIABLE,
    Spec,
    entries_with_own,
    kind_of,
    path_key,
    rebuild_container,
    spec_of,
    store_spec,
)
from typed_nnx._core.nodes import iter_children as _iter_children
from typed_nnx._core.nodes import iter_graph as _iter_graph
from typed_nnx._core.paths import Key, Node, Path, Value, key_of_entry
from typed_nnx._core.variable import Variable
from typed_nnx._graph.mode import allows_graphs, require_tree
from typed_nnx._graph.rebuild import rebuild
from typed_nnx._graph.record import snapshot
from typed_nnx.errors import GraphError

A = TypeVar("A")


def _is_array(_: Path, value: object) -> bool:
    return kind_of(value.get_raw_value() if isinstance(value, Variable) else value) == LEAF


def _is_reference(_: Path, value: object) -> bool:
    return is_array_ref(value.get_raw_value() if isinstance(value, Variable) else value)


def _is_leaf(value: object) -> bool:
    return isinstance(value, Variable) or is_array_ref(value)


def _converted(
    node: A, only: Predicate, convert: Callable[[Value], object], duplicates: bool, fix: str
) -> A:
    entries, treedef = jax.tree_util.tree_flatten_with_path(node, is_leaf=_is_leaf)
    paths = [tuple([key_of_entry(entry) for entry in path]) for path, _ in entries]
    chosen = [only(path, leaf) for path, (_, leaf) in zip(paths, entries, strict=True)]
    if not duplicates:
        _check_once([(p, e[1]) for p, e, c in zip(paths, entries, chosen, strict=True) if c], fix)
    leaves = [
        convert(leaf) if take else leaf for (_, leaf), take in zip(entries, chosen, strict=True)
    ]
    converted: A = jax.tree_util.tree_unflatten(treedef, leaves)
    return converted


def _check_once(entries: list[tuple[Path, object]], fix: str) -> None:
    found: dict[int, tuple[object, list[Path]]] = {}
    for path, leaf in entries:
        found.setdefault(id(leaf), (leaf, []))[1].append(path)
    for leaf, paths in found.values():
        if len(paths) > 1:
            lines = "\n".join(["  " + "/".join([str(key) for key in path]) for path in paths])
            problem = f"Found duplicate at paths:\n  ---\n{lines}\n  ---"
            raise GraphError(type(leaf).__name__, problem, fix)


def _to_reference(leaf: object) -> object:
    if not isinstance(leaf, Variable):
        return leaf if is_array_ref(leaf) else new_array_ref(leaf)
    raw = leaf.get_raw_value()
    return (
        leaf if is_array_ref(raw) else leaf.replace(new_array_ref(raw), _copy_ref=False, ref=True)
    )


def _to_array(leaf: object) -> object:
    if not isinstance(leaf, Variable):
        return leaf[...] if is_array_ref(leaf) else leaf
    raw = leaf.get_raw_value()
    return leaf.replace(raw[...], ref=False) if is_array_ref(raw) else leaf


def to_refs(node: A, /, only: Filter = _is_array) -> A:
    """Return the structure with array references for its arrays.

    Args:
        node: Any pytree; Variables become Variables that hold references.
        only: Which arrays.

    Raises:
        GraphError: An array is there twice; which copy a write should reach is unclear.
    """
    fix = "copy the array for one of the paths, or share a Variable"
    return _converted(node, to_predicate(only), _to_reference, False, fix)


def to_arrays(node: A, /, *, only: Filter = _is_reference, allow_duplicates: bool = False) -> A:
    """Return the structure with arrays for its array references.

    Args:
        node: Any pytree; Variables that hold references become Variables that hold arrays.
        only: Which references.
        allow_duplicates: Accept a reference that is there twice; it becomes two arrays.

    Raises:
        GraphError: A reference is there twice.
    """
    fix = "pass allow_duplicates=True, or keep the references"
    return _converted(node, to_predicate(only), _to_array, allow_duplicates, fix)


def with_vars(
    node: A,
    /,
    *,
    hijax: bool | None = None,
    ref: bool | None = None,
    mutable: bool | None = None,
    only: Filter = ...,
    allow_duplicates: bool = False,
) -> A:
    """Return the structure with its Variables turned into or from Variables with references.

    Args:
        node: Any pytree.
        hijax: Sets the metadata item of this name.
        ref: True for references, False for arrays, None to leave them.
        mutable: Sets the metadata item of this name.
        only: Which Variables.
        allow_duplicates: Accept a Variable that is there twice; it becomes two.

    Raises:
        GraphError: A Variable is there twice.
    """
    if hijax:
        warn_of_hijax()
    predicate = to_predicate(only)
    flags = {"hijax": hijax, "mutable": mutable}
    wanted = {name: value for name, value in flags.items() if value is not None}

    def convert(leaf: Value) -> Node:
        if not isinstance(leaf, Variable):
            return leaf
        made: Value = leaf if ref is None else (_to_reference(leaf) if ref else _to_array(leaf))
        if all(made.get_metadata(name, None) is value for name, value in wanted.items()):
            return made
        return made.replace(_copy_ref=False, **wanted)

    fix = "pass allow_duplicates=True, or give each path a Variable of its own"
    return _converted(
        node,
        lambda path, leaf: isinstance(leaf, Variable) and predicate(path, leaf),
        convert,
        allow_duplicates,
        fix,
    )


vars_as = with_vars


_OWN_ROWS = frozenset({"_pytree__nodes", "_pytree__state"})


def iter_children(node: object, /, *, graph: bool | None = None) -> Iterator[tuple[Key, Value]]:
    """Yield (key, child) of the direct children that are objects or Variables.

    Args:
        node: An object, or a container of objects.
        graph: False asserts that the object is a pytree of jax.

    Raises:
        GraphError: ``graph=False`` and its class is declared with ``pytree=False``.
    """
    if not allows_graphs(graph) and not getattr(type(node), "_nnx_is_pytree", True):
        raise GraphError.is_no_pytree("iter_children", (), node)
    return _iter_children(node)


def iter_graph(node: object, /, *, graph: bool | None = None) -> Iterator[tuple[Path, Value]]:
    """Yield (path, value) of every node and leaf, static values too; children come first.

    A node that is reached on several paths is visited once, on the first.

    Args:
        node: An object, a container or a leaf.
        graph: False asserts that the graph is a tree.

    Raises:
        SharedReferenceError: ``graph=False`` and an object is reached on two paths.
    """
    require_tree("iter_graph", node, graph)
    return _iter_graph(node)


def map(  # noqa: A001 -- the public name
    f: Callable[[Path, Value], Value],
    node: A,
    /,
    *,
    graph: bool | None = None,
    recreate_variables: bool = True,
) -> A:
    """Return the object graph with ``f(path, leaf)`` in place of each leaf.

    Where `f` returns something else than a Variable for a Variable, a new Variable of the same
    type and metadata holds it.

    Args:
        f: Takes the path and the Variable or array.
        node: An object, or a container of objects.
        graph: False asserts that the graph is a tree.
        recreate_variables: If False, what `f` returns for a Variable takes its place as it is.

    Raises:
        SharedReferenceError: ``graph=False`` and an object is reached on two paths.
    """
    require_tree("map", node, graph)
    record = snapshot(node)
    structure = record.graphdef
    leaves = [
        f(path, leaf) for path, leaf in zip(structure.layout.paths, record.values(), strict=True)
    ]
    mapped: A = rebuild(structure, leaves, recreate_variables=recreate_variables)
    return mapped


def recursive_map(
    f: Callable[[Path, Value], Value], node: object, /, *, graph: bool | None = None
) -> Node:
    """Return a copy of an object graph in which `f` has seen every node and leaf.

    ``f(path, value)`` is called for leaves, static values and nodes, children before their parent,
    and its result takes the place of the value. Variables stay the same objects.

    Args:
        f: Takes the path and the value (a node is a new one, with its new children).
        node: An object, or a container of objects.
        graph: False asserts that the graph is a tree.

    Raises:
        SharedReferenceError: ``graph=False`` and an object is reached on two paths.
    """
    require_tree("recursive_map", node, graph)
    return _RecursiveMap(f).of(node, ())


class _RecursiveMap:
    def __init__(self, function: Callable[[Path, Value], Value]) -> None:
        self.function = function
        self.made: dict[int, object] = {}

    def of(self, node: object, path: Path) -> Node:
        kind = kind_of(node)
        if kind in (OBJECT, VARIABLE) and id(node) in self.made:
            return self.made[id(node)]
        if kind == OBJECT:
            return self._object(node, path)
        if kind == VARIABLE:
            result = self.made[id(node)] = self.function(path, node)
            return result
        if kind != CONTAINER:
            return self.function(path, node)
        with graph_lock:
            spec, found = spec_of(node), entries_with_own(node)
        entries = [(key, self.of(value, (*path, key))) for key, value in found]
        return self.function(path, _rebuilt(spec, entries))

    def _object(self, node: Node, path: Path) -> Node:
        with graph_lock:  # what another thread writes together is copied together
            copy = self.made[id(node)] = type(node)._nnx_rebuild(spec_of(node))
            names = {path_key(type(node), name): name for name in node.__dict__}
            entries = entries_with_own(node)
        for key, value in entries:
            new = self.of(value, (*path, key))
            if key not in _OWN_ROWS or key in names:
                copy.__dict__[names[key]] = new
        store_spec(copy, None)
        result = self.made[id(node)] = self.function(path, copy)
        return result


def _rebuilt(spec: Spec, entries: list[tuple[Key, object]]) -> object:
    found = dict(entries)
    statics = tuple([(name, found[name]) for name, _ in spec.statics])
    changed = Spec(spec.cls, spec.names, statics, treedef=spec.treedef, order=spec.order)
    return rebuild_container(changed, [found[name] for name in spec.names])


def set_metadata(node: Node, /, *, only: Any = Variable, **metadata: object) -> None:
    """Set metadata of every Variable in an object graph that a filter matches.

    Args:
        node: An object, or a container of objects.
        only: The filter.
        **metadata: The items to set.
    """
    from_filter = to_predicate(only)
    record = snapshot(node)
    for path, leaf in zip(record.graphdef.layout.paths, record.values(), strict=True):
        if isinstance(leaf, Variable) and from_filter(path, leaf):
            leaf.set_metadata(**metadata)
