"""`update`: values of States written into an object graph, all of them or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from typed_nnx._core.cells import graph_lock
from typed_nnx._core.filters import Filter, Predicate, to_predicate
from typed_nnx._core.jax_runtime import context, is_array_ref, where
from typed_nnx._core.nested import flat_items, nested_of
from typed_nnx._core.nodes import (
    CONTAINER,
    LEAF,
    OBJECT,
    VARIABLE,
    GraphNode,
    Spec,
    all_entries,
    described,
    kind_of,
    rebuild_container,
)
from typed_nnx._core.paths import Key, Node, Path, Value
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.settings import MISSING, typed_as
from typed_nnx._core.state import State
from typed_nnx._core.variable import AnyVariable, Variable, store_value
from typed_nnx._graph.graphdef import AnyTree, GraphState, StateLike
from typed_nnx._graph.rebuild import entries_of
from typed_nnx._graph.record import Record, record_of
from typed_nnx._graph.traversal import Slot
from typed_nnx.errors import (
    ArgumentError,
    GraphError,
    StateMismatchError,
    TraceLevelError,
    UnknownPathError,
)

if TYPE_CHECKING:
    from typed_nnx._graph import split_overloads as overloads

A = TypeVar("A")


class _Changes:
    """What an update will do, collected before anything is done."""

    __slots__ = ("changing", "elsewhere", "root", "unknown", "variables")

    def __init__(self, root: object) -> None:
        self.root = root
        # The Variables that earlier States change: a later one may hold them, with the old values.
        self.changing: set[int] = set()
        self.variables: list[tuple[AnyVariable, object]] = []
        self.elsewhere: list[tuple[Path, object]] = []
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
            meta = variable._flat[1]
            if type(new) is type(variable) and new._flat[1] is meta and not meta.ref:
                store_value(variable, new._flat[0][0])
            elif isinstance(new, Variable):
                variable.update_from_state(new)
            else:
                _set_raw(variable, new)
        for path, value in self.elsewhere:
            _write(self.root, path, value)

    def _read(self) -> list[tuple[AnyVariable, Value]]:
        """Return the Variables and what they get, read before anything is written."""
        if not self.changing:
            return self.variables
        return [
            (
                variable,
                new.copy() if isinstance(new, Variable) and id(new) in self.changing else new,
            )
            for variable, new in self.variables
        ]


def _set_raw(variable: AnyVariable, value: object) -> None:
    if variable._meta.ref and not is_array_ref(value):
        variable.get_raw_value()[...] = value
    else:
        store_value(variable, value)


class _NoArray(Protocol):
    """Any object but an array, which compares its elements."""

    def __eq__(self, other: object, /) -> bool: ...


MYPY = False


# A Variable takes a bare value.
@overload
def update(node: AnyVariable, state: object, /, *states: object) -> None: ...
@overload
def update(node: Pytree | _NoArray | None, state: StateLike, /, *states: StateLike) -> None: ...


if not MYPY:  # which has no types of optax

    @overload
    def update(node: Pytree | _NoArray | None, state: AnyTree, /, *states: AnyTree) -> None: ...


def update(node: object, state: object, /, *states: object) -> None:
    """Write the values of States into an object graph, in place.

    Either all values are written or, if an error is raised, none.

    Args:
        node: An object, or a container of objects.
        state: A State (or nested mapping) with Variables or bare values at paths of `node`.
        *states: More of them.

    Raises:
        UnknownPathError: A path leads nowhere; all such paths are listed.
        StateMismatchError: A node stands where a value is given.
        GraphError: A value in a bare tuple cannot be replaced.
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


def _collect_root(node: object, source: object, record: Record | None, changes: _Changes) -> None:
    if isinstance(node, Variable):
        if not (isinstance(source, State) and not source):  # a filter that took nothing
            changes.variables.append((node, source))
        return
    if kind_of(node) not in (OBJECT, CONTAINER):
        raise ArgumentError(
            "update",
            f"got a {type(node).__name__}; expected an object, or a container of objects.",
            "nnx.update(model, state)",
        )
    entries = entries_of(source)
    if entries is None:
        raise _wrong_type((), node, source)
    if record is None:
        _collect_live(node, entries, (), changes)
    else:
        _collect(record.graphdef.layout.tree, entries, (), record, changes)


def _collect(
    tree: Any, mapping: Mapping[Key, Value], path: Path, record: Record, changes: _Changes
) -> None:
    """Collect along the record; what it does not know is looked for in the objects."""
    leaves, add = record.leaves, changes.variables.append
    for key, value in mapping.items():
        place = tree.get(key, MISSING)
        if type(place) is int:
            leaf = leaves[place]
            if leaf is value and id(leaf) not in changes.changing:
                continue
            if isinstance(leaf, Slot):
                changes.elsewhere.append(((*path, key), value))
            else:
                add((leaf, value))
            continue
        inner = value._mapping if type(value) is State else value
        if type(place) is dict and type(inner) is dict:
            _collect(place, inner, (*path, key), record, changes)
        else:
            _collect_live(_holders(changes.root, path)[-1], {key: value}, path, changes)


def _holders(root: Node, path: Path) -> list[Node]:
    """Return what is on a path, from the root on."""
    holders = [root]
    for key in path:
        holders.append(dict(all_entries(holders[-1]))[key])
    return holders


def _collect_live(
    node: object, mapping: Mapping[object, object], path: Path, changes: _Changes
) -> None:
    """Collect by looking at the objects themselves."""
    known = dict(all_entries(node))
    for key, value in mapping.items():
        here = (*path, key)
        child = known.get(key, MISSING)
        entries = entries_of(value)
        if child is MISSING:
            inside = [below for below, _ in flat_items(entries, here)] if entries else [here]
            changes.unknown.extend(inside)
        elif isinstance(child, Variable):
            if child is not value or id(child) in changes.changing:
                changes.variables.append((child, value))
        elif kind_of(child) in (OBJECT, CONTAINER) and child is not None:
            if entries is None:
                raise _wrong_type(here, child, value)
            _collect_live(child, entries, here, changes)
        else:
            changes.elsewhere.append((here, value))


def _wrong_type(path: Path, node: object, got: object) -> StateMismatchError:
    return StateMismatchError(
        "update",
        f"at path {path!r} there is a node ({type(node).__name__}); got {type(got).__name__}.",
        fix="update with a State of a model of the same structure",
    )


def _check_mutable(root: object, path: Path) -> None:
    holders = _holders(root, path[:-1])
    check_trace(holders, path)
    if not any(isinstance(holder, Pytree | list | dict) for holder in holders):
        raise GraphError.is_immutable("update", path, root)


def check_trace(holders: Sequence[object], path: Path) -> None:
    """Raise if the innermost Pytree around a value belongs to another jax trace."""
    for holder in reversed(holders):
        if isinstance(holder, Pytree):
            if holder._nnx_trace != context.trace:
                raise TraceLevelError("Pytree", type(holder).__name__, str(path[-1]), where(holder))
            return


def _write(root: object, path: Path, value: Value) -> None:
    """Put a value at a path; what is immutable around it is rebuilt, up to what is not."""
    *holders, old = _holders(root, path)
    for key, holder in zip(reversed(path), reversed(holders), strict=True):
        if value is old:
            return
        old, value = holder, _with_child(holder, key, value)


def _with_child(node: Node, key: Key, child: Value) -> Node:
    """Return `node` with another child; a tuple or another immutable node is rebuilt."""
    if isinstance(node, GraphNode):
        setattr(node, str(key), child)
        return node
    if type(node) in (list, dict):
        node[key] = child
        return node
    spec, values = described(node)
    if key not in spec.keys:  # it was static
        statics = tuple([(k, child if k == key else v) for k, v in spec.statics])
        spec = Spec(spec.cls, spec.names, statics, treedef=spec.treedef, order=spec.order)
    children = dict(zip(spec.keys, values, strict=True))
    children[key] = child
    return rebuild_container(spec, [children[name] for name in spec.keys])


class _Search:
    """Finds what filters take, without changing anything yet."""

    def __init__(self, predicates: tuple[Predicate, ...]) -> None:
        self.predicates = predicates
        self.groups: list[list[tuple[Path, object]]] = [[] for _ in predicates]
        self.removals: list[tuple[object, object]] = []
        self._seen: set[int] = set()
        self._taken: set[int] = set()

    def visit(self, node: object, path: Path, above: tuple[object, ...] = ()) -> None:
        """Look at a node and everything below it."""
        kind = kind_of(node)
        if kind == OBJECT:
            if id(node) in self._seen:
                return
            self._seen.add(id(node))
        elif kind != CONTAINER:
            return
        holders = (*above, node)
        for key, value in all_entries(node):
            here = (*path, key)
            below = kind_of(value)
            if below in (OBJECT, CONTAINER):
                self.visit(value, here, holders)
            elif below in (VARIABLE, LEAF) and self._takes(here, value):
                _check_removable(holders, here)
                self.removals.append((node, key))

    def _takes(self, path: Path, value: object) -> bool:
        if id(value) in self._taken:  # shared: only its first path is cleared, as in flax
            return False
        for index, predicate in enumerate(self.predicates):
            if predicate(path, value):
                if kind_of(value) == VARIABLE:
                    self._taken.add(id(value))
                self.groups[index].append((path, value))
                return True
        return False


def _check_removable(holders: tuple[object, ...], path: Path) -> None:
    check_trace(holders, path)
    if not isinstance(holders[-1], Pytree | dict):
        raise GraphError.is_immutable("pop", path, holders[-1])


@typed_as(lambda: overloads.pop)
def pop(node: A, *filters: Filter) -> State[Any, Any, A, Any] | tuple[State[Any, Any, A, Any], ...]:
    """Take the Variables that filters match out of an object graph and return them.

    A shared Variable is returned once and taken out of the first of its places.

    Args:
        node: An object, or a container of objects.
        *filters: At least one; the result is one State, or a tuple with one for each filter.

    Raises:
        ArgumentError: There is no filter.
        GraphError: A match is in a list or tuple, from which nothing can be taken out.
    """
    if not filters:
        raise ArgumentError(
            "pop", "Expected at least one filter.", "nnx.pop(model, nnx.Intermediate)"
        )
    search = _Search(tuple([to_predicate(filter_) for filter_ in filters]))
    search.visit(node, ())
    _remove(search.removals)
    states = [State._of(nested_of(group)) for group in search.groups]
    return states[0] if len(states) == 1 else tuple(states)


def _remove(removals: list[tuple[Node, Key]]) -> None:
    # From the end, so that the indices of a List stay right while it shrinks.
    for holder, key in reversed(removals):
        if isinstance(key, int) or not isinstance(holder, GraphNode):
            del holder[key]
        else:
            delattr(holder, key)
