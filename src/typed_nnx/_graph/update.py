"""`update`: values of States written into an object graph, all of them or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typed_nnx._core.cells import graph_lock
from typed_nnx._core.locate import where
from typed_nnx._core.nested import flat_items
from typed_nnx._core.nodes import (
    CONTAINER,
    OBJECT,
    GraphNode,
    Spec,
    all_entries,
    children_of,
    kind_of,
    rebuild_container,
    spec_of,
)
from typed_nnx._core.paths import Path
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.references import is_array_ref
from typed_nnx._core.state import State
from typed_nnx._core.trace import context
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_parts import store_value
from typed_nnx._graph.gather import entries_of
from typed_nnx._graph.graph_state import GraphState
from typed_nnx._graph.record import Record, record_of
from typed_nnx._graph.traversal import Slot
from typed_nnx.errors import (
    ImmutableNodeError,
    TraceLevelError,
    UnknownPathError,
    UpdateTypeError,
)

_MISSING: Any = object()


class _Changes:
    """What an update will do, collected before anything is done."""

    __slots__ = ("changing", "elsewhere", "root", "unknown", "variables")

    def __init__(self, root: Any) -> None:
        self.root = root
        # The Variables that earlier States change: a later one may hold them, with the old values.
        self.changing: set[int] = set()
        self.variables: list[tuple[Variable[Any], Any]] = []
        self.elsewhere: list[tuple[Path, Any]] = []
        self.unknown: list[Path] = []

    def check(self) -> None:
        """Raise if any of the changes cannot be made."""
        if self.unknown:
            raise UnknownPathError(self.unknown, type(self.root).__name__)
        trace = context.trace
        for variable, _ in self.variables:
            if variable._nnx_trace is not trace and variable._nnx_trace != trace:
                raise TraceLevelError("Variable", type(variable).__name__, None, where(variable))
        for path, _ in self.elsewhere:
            _check_mutable(self.root, path)

    def make(self) -> None:
        """Make the changes."""
        for variable, new in self._read():
            if type(new) is type(variable) and _same_metadata(new, variable):
                store_value(variable, new._flat[0][0])
            elif isinstance(new, Variable):
                variable.update_from_state(new)
            else:
                _set_raw(variable, new)
        for path, value in self.elsewhere:
            _with_child(self.root, path, value)

    def _read(self) -> list[tuple[Variable[Any], Any]]:
        """Return the Variables and what they get, read before anything is written."""
        if not self.changing:
            return self.variables
        return [
            (variable, new.copy() if id(new) in self.changing else new)
            for variable, new in self.variables
        ]


def _same_metadata(new: Variable[Any], old: Variable[Any]) -> bool:
    meta = new._flat[1]
    return meta is old._flat[1] and not meta.ref


def _set_raw(variable: Variable[Any], value: Any) -> None:
    if variable._meta.ref and not is_array_ref(value):
        variable.get_raw_value()[...] = value
    else:
        store_value(variable, value)


def update(node: Any, state: Any, /, *states: Any) -> None:
    """Write the values of States into an object graph, in place.

    Either all values are written or, if an error is raised, none.

    Args:
        node: An object, or a container of objects.
        state: A State (or nested mapping) with Variables or bare values at paths of `node`.
        *states: More of them.

    Raises:
        UnknownPathError: A path leads nowhere; all such paths are listed.
        UpdateTypeError: A node stands where a value is given.
        ImmutableNodeError: A value in a bare tuple cannot be replaced.
        TraceLevelError: `node` belongs to another jax trace.
    """
    changes = _Changes(node)
    record = record_of(node) if isinstance(node, Pytree) else None
    for given in (state, *states):
        changes.changing.update([id(variable) for variable, _ in changes.variables])
        source = given.state if isinstance(given, GraphState) else given
        _collect_root(node, source, record, changes)
    with graph_lock:
        changes.check()
        changes.make()


def _collect_root(node: Any, source: Any, record: Record | None, changes: _Changes) -> None:
    if isinstance(node, Variable):
        if not (isinstance(source, State) and not source):  # a filter that took nothing
            changes.variables.append((node, source))
        return
    entries = entries_of(source)
    if entries is None:
        raise UpdateTypeError((), f"a node ({type(node).__name__})", type(source).__name__)
    if record is None:
        _collect_live(node, entries, (), changes)
    else:
        _collect(record.graphdef.layout.tree, entries, (), record, changes)


def _collect(
    tree: Any, mapping: Mapping[Any, Any], path: Path, record: Record, changes: _Changes
) -> None:
    """Collect along the record; what it does not know is looked for in the objects."""
    leaves, add = record.leaves, changes.variables.append
    for key, value in mapping.items():
        place = tree.get(key, _MISSING)
        if type(place) is int:
            leaf = leaves[place]
            if leaf is value and id(leaf) not in changes.changing:
                continue
            if type(leaf) is Slot:
                changes.elsewhere.append(((*path, key), value))
            else:
                add((leaf, value))  # type: ignore[arg-type]  # a leaf is a Slot or a Variable
            continue
        inner = value._mapping if type(value) is State else value
        if type(place) is dict and type(inner) is dict:
            _collect(place, inner, (*path, key), record, changes)
        else:
            _collect_live(_at(changes.root, path), {key: value}, path, changes)


def _at(root: Any, path: Path) -> Any:
    for key in path:
        root = dict(all_entries(root))[key]
    return root


def _collect_live(node: Any, mapping: Mapping[Any, Any], path: Path, changes: _Changes) -> None:
    """Collect by looking at the objects themselves."""
    known = dict(all_entries(node))
    for key, value in mapping.items():
        here = (*path, key)
        child = known.get(key, _MISSING)
        entries = entries_of(value)
        if child is _MISSING:
            inside = [below for below, _ in flat_items(entries, here)] if entries else [here]
            changes.unknown.extend(inside)
        elif isinstance(child, Variable):
            if child is not value or id(child) in changes.changing:
                changes.variables.append((child, value))
        elif kind_of(child) in (OBJECT, CONTAINER) and child is not None:
            if entries is None:
                raise UpdateTypeError(
                    here, f"a node ({type(child).__name__})", type(value).__name__
                )
            _collect_live(child, entries, here, changes)
        else:
            changes.elsewhere.append((here, value))


def _check_mutable(root: Any, path: Path) -> None:
    holders = [root]
    for key in path[:-1]:
        holders.append(dict(all_entries(holders[-1]))[key])
    check_trace(holders, path)
    if not any(isinstance(holder, Pytree | list | dict) for holder in holders):
        raise ImmutableNodeError("update", path, type(root).__name__)


def check_trace(holders: Sequence[Any], path: Path) -> None:
    """Raise if the innermost Pytree around a value belongs to another jax trace."""
    for holder in reversed(holders):
        if isinstance(holder, Pytree):
            if holder._nnx_trace != context.trace:
                raise TraceLevelError("Pytree", type(holder).__name__, str(path[-1]), where(holder))
            return


def _with_child(node: Any, path: Path, value: Any) -> Any:
    """Return `node` with another value at a path; the same object unless it is immutable."""
    key, rest = path[0], path[1:]
    old = dict(all_entries(node))[key]
    new = _with_child(old, rest, value) if rest else value
    return node if new is old else with_child(node, key, new)


def with_child(node: Any, key: Any, child: Any) -> Any:
    """Return `node` with another child; a tuple or another immutable node is rebuilt."""
    if isinstance(node, GraphNode):
        setattr(node, str(key), child)
        return node
    if type(node) in (list, dict):
        node[key] = child
        return node
    spec = spec_of(node)
    if key not in spec.keys:  # it was static
        statics = tuple([(k, child if k == key else v) for k, v in spec.statics])
        spec = Spec(spec.cls, spec.names, statics, treedef=spec.treedef, order=spec.order)
    children = dict(zip(spec.keys, children_of(node, spec), strict=True))
    children[key] = child
    return rebuild_container(spec, [children[name] for name in spec.keys])
