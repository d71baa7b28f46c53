"""One level of an object graph: what kinds of children there are and how a node is described.

A `Spec` describes one node without its children's values: type, names of the children, static
values. Everything that traverses (records, walks, jax's own flattening) asks `spec_of`, so there
is one order and one rule for what a child is.
"""

from __future__ import annotations

import atexit
import dataclasses
import functools
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, TypeAlias

import jax
import jax.core
import numpy as np

from typed_nnx._core.cells import (
    Bounded,
    Membership,
    content_key,
    first_unhashable,
    graph_lock,
    mutable_values,
)
from typed_nnx._core.paths import Key, Path, key_of_entry, sorted_keys
from typed_nnx.errors import UnhashableError

TreeDef: TypeAlias = jax.tree_util.PyTreeDef  # pyright: ignore[reportInvalidTypeForm]  # a variable, for pyright

_new = object.__new__

# The kinds of children.
STATIC = 0
LEAF = 1
VARIABLE = 2
OBJECT = 3  # one of our Pytrees: shared by reference, may be part of a cycle
CONTAINER = 4  # list, dict, tuple, None, any pytree that jax knows: compared by content
REFERENCE = 5  # a bare array reference: shared by reference

Kind: TypeAlias = int

_ALWAYS_STATIC: frozenset[type] = frozenset(
    {str, int, bool, float, complex, bytes, type, type(...), type(lambda: 0), type(len)}
)
_ALWAYS_CONTAINER: frozenset[type] = frozenset({list, dict, tuple, type(None)})

kinds: dict[type, Kind] = {
    **dict.fromkeys(_ALWAYS_STATIC, STATIC),
    **dict.fromkeys(_ALWAYS_CONTAINER, CONTAINER),
    np.ndarray: LEAF,
}


class GraphNode:
    """The slots of our objects, and how this layer knows them; `Pytree` is the only direct subclass.

    Attributes:
        _nnx_described: The cached description, dropped by every write that changes it; None if it may
            change without such a write.
        _nnx_status: Whether each attribute is data.
        _nnx_trace: The jax trace that the object belongs to.
        _nnx_cells: The records that it is part of.
        _nnx_record: Its own record.
    """

    __slots__ = ("_nnx_cells", "_nnx_described", "_nnx_record", "_nnx_status", "_nnx_trace")

    _nnx_described: Spec | None
    _nnx_status: dict[str, bool]
    _nnx_trace: Any
    _nnx_cells: Membership
    _nnx_record: Any

    _nnx_int_keys: ClassVar[bool] = False
    _nnx_is_pytree: ClassVar[bool] = True
    _nnx_kind: ClassVar[int] = OBJECT
    _nnx_writes_past: ClassVar[bool] = False  # `Pytree.__setattr__` does not see all its writes

    def _nnx_spec(self) -> Spec:
        raise NotImplementedError

    def _nnx_entries(self) -> Mapping[str, Any]:
        """Return the attributes that are part of the state."""
        raise NotImplementedError


# Assignment goes through `__setattr__`, which a subclass may define; these write the slots.
store_spec: Callable[[Any, Spec | None], None] = GraphNode.__dict__["_nnx_described"].__set__
store_status: Callable[[Any, dict[str, bool]], None] = GraphNode.__dict__["_nnx_status"].__set__
store_trace: Callable[[Any, Any], None] = GraphNode.__dict__["_nnx_trace"].__set__
store_cells: Callable[[Any, Membership], None] = GraphNode.__dict__["_nnx_cells"].__set__
store_record: Callable[[Any, Any], None] = GraphNode.__dict__["_nnx_record"].__set__


def new_node(cls: type[Any], spec: Spec | None, status: dict[str, bool], trace: object) -> Any:
    """Return an object without attributes, its slots filled."""
    node = _new(cls)
    store_spec(node, spec if spec is not None and spec.is_lasting else None)
    store_status(node, status)
    store_trace(node, trace)
    store_cells(node, ())
    store_record(node, None)
    return node


def kind_of(value: object) -> Kind:
    kind = kinds.get(type(value))
    return classify(value) if kind is None else kind


def classify(value: object) -> Kind:
    """Return the kind of a child of a type that `kinds` does not know."""
    cls = type(value)
    kind: Kind | None = getattr(cls, "_nnx_kind", None)
    if kind is None:
        if isinstance(value, jax.Ref):
            return REFERENCE  # a tracer of a reference has the same class as other tracers
        if isinstance(value, jax.core.Tracer):
            return LEAF
        if not isinstance(value, jax.Array | np.ndarray):
            # Not remembered: a type may be registered with jax later.
            return STATIC if jax.tree_util.all_leaves((value,)) else CONTAINER
        kind = LEAF
    if "<locals>" not in cls.__qualname__:  # such a class may die; the table would keep it
        kinds[cls] = kind
    return kind


# Equal values of these are the same value; not int, since 1 == True.
_SIMPLE = frozenset({bool, str})


class Token:
    """The identity of all structures that are equal; held weakly by the table of tokens.

    Attributes:
        layout: What follows from the structure alone, once somebody worked it out.
    """

    __slots__ = ("__weakref__", "layout")

    def __init__(self) -> None:
        self.layout: Any = None


_tokens: weakref.WeakValueDictionary[Any, Token] = weakref.WeakValueDictionary()
# An entry that dies after Python began to shut down would hash its key, when what hashes is gone.
atexit.register(_tokens.clear)


def token_for(key: object) -> Token:
    token = _tokens.get(key)
    if token is None:
        with graph_lock:  # two threads must not make one each
            token = _tokens.setdefault(key, Token())
    return token


class Spec:
    """The description of one node: what is the same for all nodes of the same structure.

    Attributes:
        cls: The type of the node.
        is_object: The node is an object of ours, not a container.
        names: Where the children are: attribute names or keys, in order.
        keys: The keys of the children in paths, in the same order.
        statics: The static values by name, in order.
        treedef: For other pytrees than list, dict and tuple: how jax rebuilds one.
        order: For those, the keys in jax's order.
        template: The attributes of a new node: statics filled in, children None, in order.
        status: Whether each attribute is a child.
        mutable: The static values without a hash, each with the key of its content.
        is_lasting: It stays true until an assignment says otherwise: nothing in it can change in place,
            and the class does not write past `Pytree.__setattr__`.
        token: The interned identity.
    """

    __slots__ = (
        "__weakref__", "_variants", "cls", "is_lasting", "is_object", "keys", "mutable", "names", "order", "statics",
        "status", "template", "token", "treedef",
    )  # fmt: skip

    def __init__(
        self,
        cls: type,
        names: tuple[Key, ...],
        statics: tuple[tuple[Key, Any], ...],
        *,
        keys: tuple[Key, ...] | None = None,
        treedef: Any = None,
        order: tuple[Key, ...] = (),
    ) -> None:
        self.cls = cls
        self.is_object = issubclass(cls, GraphNode)
        self.names = names
        self.keys = names if keys is None else keys
        self.statics = statics
        self.treedef = treedef
        self.order = order
        by_name = dict(statics)
        self.template: dict[Any, Any] = {
            n: by_name.get(n) for n in _in_order(cls, (*names, *by_name))
        }
        self.status = {name: name not in by_name for name in self.template}
        self._variants: Bounded[Any, weakref.ref[Spec]] = Bounded(16)
        self.mutable: tuple[tuple[Any, Any], ...] = mutable_values(by_name.values())
        self.is_lasting: bool = not self.mutable and not getattr(cls, "_nnx_writes_past", False)
        contents = tuple([(name, content_key(value)) for name, value in statics])
        self.token: Token = token_for((cls, names, contents, treedef))

    def variant(self, name: Key, value: Any) -> Spec | None:
        """Return the spec with another static value, if it was added: train() and eval() take turns."""
        found = self._variants[name, value] if value.__class__ in _SIMPLE else None
        return None if found is None else found()

    def add_variant(self, name: Key, value: Any, spec: Spec) -> None:
        """Remember the spec with another static value."""
        if value.__class__ in _SIMPLE:
            self._variants.pop((name, value), None)  # one that is gone
            self._variants.add((name, value), weakref.ref(spec))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Spec):
            return NotImplemented
        return self.token is other.token

    def __hash__(self) -> int:
        found = first_unhashable(self.statics) if self.mutable else None
        if found is not None:
            name, value = found
            raise UnhashableError(
                f"unhashable type: {type(value).__name__!r}",
                f"static attribute {name!r} of {self.cls.__name__} holds {value!r}, and a hash is "
                "needed here.",
                f"use a hashable value: _.{name} = ...",
            )
        return hash(self.token)

    def __repr__(self) -> str:
        statics = ", ".join(f"{name}={value!r}" for name, value in self.statics)
        children = ", ".join(map(str, self.names))
        return f"{self.cls.__name__}({f'{statics}; ' if statics else ''}{children})"

    def __reduce__(self) -> tuple[Any, ...]:
        make = functools.partial(Spec, keys=self.keys, treedef=self.treedef, order=self.order)
        return make, (self.cls, self.names, self.statics)

    def __deepcopy__(self, memo: dict[int, Any]) -> Spec:
        return self  # immutable


def _in_order(cls: type, names: tuple[Key, ...]) -> list[Key]:
    by_key = {path_key(cls, name): name for name in names}
    return [by_key[key] for key in sorted_keys(by_key)]


SpecKey: TypeAlias = tuple[type, tuple[str, ...], tuple[Any, ...]]

_known_specs: dict[SpecKey, weakref.ref[Spec]] = {}


def known_spec(key: SpecKey) -> Spec | None:
    """Return the spec that was made for this type, these names and these static objects."""
    found = _known_specs.get(key)
    return None if found is None else found()


def new_spec(key: SpecKey, attributes: Mapping[str, Any]) -> Spec:
    """Return a new spec for a key: type, names, and what tells each static value apart (None for children)."""
    cls, given, parts = key
    is_child = {name: part is None for name, part in zip(given, parts, strict=True)}
    order = _in_order(cls, given)
    names = tuple([name for name in order if is_child[name]])
    statics = tuple([(name, attributes[name]) for name in order if not is_child[name]])
    spec = Spec(cls, names, statics, keys=tuple([path_key(cls, name) for name in names]))

    def forget(_: weakref.ref[Spec]) -> None:
        _known_specs.pop(key, None)

    _known_specs[key] = weakref.ref(spec, forget)
    return spec


def spec_of(node: Any) -> Spec:
    """Return the description of a node: an object of ours or a container."""
    if isinstance(node, GraphNode):
        return node._nnx_described or node._nnx_spec()
    cls = type(node)
    if cls is list or cls is tuple:
        return _split_children(cls, list(enumerate(node)))
    if cls is dict:
        return _split_children(cls, [(key, node[key]) for key in sorted_keys(node)])
    if node is None:
        return _NONE
    entries, treedef = one_level(node)
    found = dict(entries)
    ordered = [(key, found[key]) for key in sorted_keys(found)]
    return _split_children(cls, ordered, treedef, tuple(found))


def _split_children(
    cls: type, entries: list[tuple[Key, Any]], treedef: object = None, order: tuple[Key, ...] = ()
) -> Spec:
    names, statics = [], []
    for name, value in entries:
        if kind_of(value) == STATIC:
            statics.append((name, value))
        else:
            names.append(name)
    return Spec(cls, tuple(names), tuple(statics), treedef=treedef, order=order)


_NONE = Spec(type(None), (), ())


def one_level(node: object) -> tuple[list[tuple[Key, Any]], Any]:
    """Return the direct children of any pytree that jax knows, with keys, and its structure."""
    entries, treedef = jax.tree_util.tree_flatten_with_path(
        node, is_leaf=lambda value: value is not node
    )
    return [(key_of_entry(path[0]), value) for path, value in entries], treedef


def children_of(node: Any, spec: Spec) -> list[Any]:
    """Return the children that a spec names, in its order."""
    if isinstance(node, GraphNode):
        attributes = node.__dict__
        return [attributes[name] for name in spec.names]
    if spec.treedef is None:
        return [node[name] for name in spec.names]
    entries = dict(one_level(node)[0])
    return [entries[name] for name in spec.names]


def described(node: object) -> tuple[Spec, list[Any]]:
    """Return the description of a node and its children, both of one moment."""
    with graph_lock:  # else another thread may remove a child between the two
        spec = spec_of(node)
        return spec, children_of(node, spec)


def path_key(cls: type, name: Key) -> Key:
    """Return the key in paths of an attribute: the elements of a List are kept as ``'0'``, ..."""
    if isinstance(name, str) and name.isdigit() and getattr(cls, "_nnx_int_keys", False):
        return int(name)
    return name


def all_entries(node: object) -> list[tuple[Key, Any]]:
    """Return every (path key, value) of a node, children and statics, in the traversal order."""
    spec, children = described(node)
    found: dict[Key, Any] = {path_key(spec.cls, name): value for name, value in spec.statics}
    found.update(zip(spec.keys, children, strict=True))
    return [(key, found[key]) for key in sorted_keys(found)]


def container_holder(node: object, spec: Spec) -> Mapping[Key, Any] | Any:
    """Return what ``holder[name]`` reads a container's children from now and later."""
    return node if spec.treedef is None else Contents(one_level(node)[0])


class Contents(dict[Key, Any]):
    """The children of a container that cannot be written to by key."""


def rebuild_container(spec: Spec, children: list[Any]) -> Any:
    """Build a container from its spec and new children."""
    if spec.cls is type(None):
        return None
    found = spec.template.copy()
    found.update(zip(spec.names, children, strict=True))
    if spec.cls is dict:
        return found
    if spec.treedef is not None:
        return jax.tree_util.tree_unflatten(spec.treedef, [found[key] for key in spec.order])
    return list(found.values()) if spec.cls is list else tuple(found.values())


@dataclasses.dataclass(frozen=True)
class TraceState:
    """The jax trace that an object belongs to."""

    jax_trace: Any


@dataclasses.dataclass(frozen=True)
class PytreeState:
    """Which trace a Pytree belongs to, as ``iter_graph`` shows it."""

    trace_state: TraceState


class HashableMapping(dict[str, bool]):
    """The status of each attribute of a Pytree, True for data."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]  # it is not changed after it was made
        return hash(tuple(sorted(self.items())))


class Bookkeeping:
    """Two attributes of a Pytree that flax keeps in it, read from where they are here."""

    __slots__ = ()

    @property
    def _pytree__nodes(self) -> HashableMapping:
        """Whether each attribute is data."""
        found: HashableMapping = own_rows(self)["_pytree__nodes"]
        return found

    @property
    def _pytree__state(self) -> PytreeState:
        """The jax trace of the object."""
        found: PytreeState = own_rows(self)["_pytree__state"]
        return found


def own_rows(node: Any) -> dict[str, Any]:
    """Return the bookkeeping of a Pytree under the names that flax gives them."""
    statuses = {"_pytree__state": True, **node._nnx_status}
    if node._nnx_is_pytree:
        statuses["_pytree__nodes"] = False
    return {
        "_pytree__nodes": HashableMapping(statuses),
        "_pytree__state": PytreeState(TraceState(node._nnx_trace)),
    }


def is_node(x: object) -> bool:
    """Whether a walk goes into a value: an object of ours or a container."""
    return kind_of(x) in (OBJECT, CONTAINER)


def entries_with_own(node: object) -> list[tuple[Key, Any]]:
    """Return every (key, value) of a node, the two bookkeeping rows of a Pytree included."""
    entries = all_entries(node)
    if not isinstance(node, GraphNode):
        return entries
    found = {**dict(entries), **own_rows(node)}
    return [(key, found[key]) for key in sorted_keys(found)]


def walk(node: object, path: Path, seen: set[int]) -> Iterator[tuple[Path, Any]]:
    """Yield (path, value) of everything below and at a node, children before their parent.

    `seen` are the ids of the nodes and Variables that were visited; they are not visited again.
    """
    kind = kind_of(node)
    if kind in (OBJECT, CONTAINER, VARIABLE):
        if id(node) in seen:
            return
        seen.add(id(node))
    if kind in (OBJECT, CONTAINER):
        for key, value in entries_with_own(node):
            yield from walk(value, (*path, key), seen)
    yield path, node


def walk_objects(node: object, path: Path, seen: set[int]) -> Iterator[tuple[Path, GraphNode]]:
    """Yield (path, object) of every object of ours in the order of `walk`; leaves are skipped."""
    if id(node) in seen:
        return
    seen.add(id(node))
    spec, children = described(node)
    for key, child in zip(spec.keys, children, strict=True):
        if kind_of(child) in (OBJECT, CONTAINER):
            yield from walk_objects(child, (*path, key), seen)
    if isinstance(node, GraphNode):
        yield path, node


def iter_graph(node: object) -> Iterator[tuple[Path, Any]]:
    """Yield (path, value) of every node and leaf below a value, each once."""
    return walk(node, (), set())


def iter_children(node: object) -> Iterator[tuple[Key, Any]]:
    """Yield (key, child) of the direct children that are objects or Variables."""
    for key, value in all_entries(node):
        kind = kind_of(value)
        if kind in (OBJECT, VARIABLE):
            yield key, value
