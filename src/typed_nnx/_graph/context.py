"""Update contexts: structural changes made inside a jax function, carried back to the objects."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, MutableMapping
from typing import Literal, Self, TypeVar, overload

from typed_nnx._core.filters import Filter
from typed_nnx._core.nested import divided, nested_of
from typed_nnx._core.paths import Node, Path, Value
from typed_nnx._core.state import FlatState, State
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.mode import require_tree
from typed_nnx._graph.rebuild import leaves_in_order, rebuild
from typed_nnx._graph.traversal import Traversal
from typed_nnx.errors import GraphError

A = TypeVar("A")
F = TypeVar("F", bound=Callable[..., object])


class RefMap(MutableMapping[Node, int]):
    """A mapping from objects, by identity, to their positions."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[int, tuple[object, int]] = {}

    def __getitem__(self, key: object) -> int:
        return self._entries[id(key)][1]

    def __setitem__(self, key: object, value: int) -> None:
        self._entries[id(key)] = (key, value)

    def __delitem__(self, key: object) -> None:
        del self._entries[id(key)]

    def __contains__(self, key: object) -> bool:
        return id(key) in self._entries

    def __iter__(self) -> Iterator[Node]:
        return iter([key for key, _ in self._entries.values()])

    def __len__(self) -> int:
        return len(self._entries)

    @classmethod
    def from_indexmap(cls, index_map: Mapping[int, object]) -> Self:
        """Return the inverse of a mapping from positions to objects."""
        made = cls()
        made.update((found, position) for position, found in index_map.items())
        return made

    def end(self) -> int:
        """Return the position after the last one."""
        return max([position for _, position in self._entries.values()], default=-1) + 1


class IndexMap(dict[int, Node]):
    """A mapping from positions to objects."""

    @classmethod
    def from_refmap(cls, ref_map: Mapping[object, int]) -> Self:
        """Return the inverse of a mapping from objects to positions."""
        return cls((position, found) for found, position in ref_map.items())


def traverse(node: object, ref_index: RefMap, base: int) -> Traversal:
    """Traverse with the objects in `ref_index` taken as met before, and add the new ones."""
    index = {id(known): ref_index[known] for known in ref_index}
    traversal: Traversal = Traversal(index, base).visit(node)
    for found in [*traversal.objects, *traversal.references]:
        if found is not None:
            ref_index[found] = index[id(found)]
    return traversal


def flatten(
    node: A,
    /,
    *,
    with_paths: bool = True,
    ref_index: RefMap | None = None,
    ref_outer_index: RefMap | None = None,
    graph: bool | None = None,
) -> tuple[GraphDef[A], FlatState[Value] | list[Value]]:
    """Return the structure and the leaves of an object graph.

    Args:
        node: An object, a container of objects, a Variable or a leaf.
        with_paths: Return a FlatState; if False, a list of the values of the Variables and arrays.
        ref_index: Positions of objects; pass one map to several calls whose graphs share objects.
        ref_outer_index: Numbers that objects have outside, noted in the structure.
        graph: False asserts that the graph is a tree.
    """
    is_tree = require_tree("flatten", node, graph)
    known = RefMap() if ref_index is None else ref_index
    traversal = traverse(node, known, known.end())
    structure = traversal.graphdef
    if ref_outer_index is not None:
        outer = tuple(
            [
                ref_outer_index[found] if found is not None and found in ref_outer_index else None
                for found in traversal.objects
            ]
        )
        structure = GraphDef(structure.items, base=structure.base, outer=outer)
    structure = structure.of_mode(is_tree)
    if not with_paths:
        return structure, [_raw(leaf) for leaf in traversal.values()]
    pairs = zip(structure.layout.paths, traversal.values(), strict=True)
    return structure, FlatState(pairs, sort=False)


def _raw(leaf: object) -> object:
    return leaf.get_raw_value() if isinstance(leaf, Variable) else leaf


def unflatten(
    graphdef: GraphDef[A],
    state: object,
    /,
    *,
    index_ref: dict[int, object] | None = None,
    outer_index_outer_ref: dict[int, object] | None = None,
    copy_variables: bool = False,
    recreate_variables: bool = True,
) -> A:
    """Build the object graph of a structure and leaves.

    Args:
        graphdef: The structure.
        state: A State, a FlatState or the list of leaves.
        index_ref: Objects by position; pass one map to several calls whose graphs share objects.
        outer_index_outer_ref: Objects by their outer number, which are changed instead of new ones
            being made.
        copy_variables: Use copies of the Variables in `state`.
        recreate_variables: If False, a value stays one where the structure has a Variable.

    Raises:
        StateMismatchError: Leaves are missing, extra or of another Variable type.
    """
    leaves = leaves_in_order("unflatten", graphdef, (state,))
    if copy_variables:
        leaves = [leaf.copy() if isinstance(leaf, Variable) else leaf for leaf in leaves]
    reuse: dict[int, object] = {}
    if outer_index_outer_ref is not None and graphdef.outer is not None:
        reuse = {
            position + graphdef.base: outer_index_outer_ref[number]
            for position, number in enumerate(graphdef.outer)
            if number is not None and number in outer_index_outer_ref
        }
    made: A = rebuild(graphdef, leaves, index_ref, reuse, recreate_variables)
    return made


class UpdateContext:
    """What is known between the four steps: split, merge inside, split inside, merge.

    Attributes:
        tag: The tag of the context.
        outer_refs: The numbers of the objects outside.
        inner_refs: The outer numbers of the objects inside.
        outer_objects: The objects outside by number.
    """

    __slots__ = ("inner_refs", "outer_objects", "outer_refs", "tag")

    def __init__(self, tag: Hashable) -> None:
        self.tag: Hashable = tag
        self.outer_refs: RefMap | None = None
        self.inner_refs: RefMap | None = None
        self.outer_objects: dict[int, object] | None = None

    def clear(self) -> None:
        """Forget all objects."""
        self.outer_refs = self.inner_refs = self.outer_objects = None


class _Stacks(threading.local):
    def __init__(self) -> None:
        self.contexts: list[UpdateContext] = []


_stacks = _Stacks()


class SplitContext:
    """Splits objects that may share others; made by `split_context`."""

    __slots__ = ("_update", "ctxtag", "is_inner", "ref_index")

    def __init__(self, ctxtag: Hashable | None, update: UpdateContext | None) -> None:
        self.ctxtag: Hashable | None = ctxtag
        self.ref_index: RefMap = RefMap()
        self._update = update
        self.is_inner: bool = update is not None and update.inner_refs is not None

    def split(self, node: A, *filters: Filter) -> tuple[GraphDef[A], *tuple[Value, ...]]:
        """Return the structure and States of an object; see `typed_nnx.split`."""
        graphdef, flat = self.flatten(node)
        states = map(_state_of, divided("split", flat, filters or (...,)))
        return (graphdef, *states)

    @overload
    def flatten(
        self, node: A, /, *, with_paths: Literal[False]
    ) -> tuple[GraphDef[A], list[Value]]: ...
    @overload
    def flatten(
        self, node: A, /, *, with_paths: Literal[True] = ...
    ) -> tuple[GraphDef[A], FlatState[Value]]: ...
    @overload
    def flatten(
        self, node: A, first: Filter, /, *filters: Filter, with_paths: Literal[True] = ...
    ) -> tuple[GraphDef[A], *tuple[FlatState[Value], ...]]: ...
    def flatten(
        self, node: object, *filters: Filter, with_paths: bool = True
    ) -> tuple[object, ...]:
        """Return the structure and the leaves of an object.

        Args:
            node: The object.
            *filters: Which leaves belong together; there is one FlatState for each.
            with_paths: Return FlatStates; if False, a list of the values, and no filters.

        Raises:
            NoFilterMatchedError: Some leaf matches no filter.
        """
        _check_open("split_context", self)
        outer = self._update.inner_refs if self._update is not None and self.is_inner else None
        if not with_paths and filters:
            raise _misused(
                "SplitContext.flatten: filters go by paths, which with_paths=False leaves out",
                self.ctxtag,
            )
        found = flatten(
            node, with_paths=with_paths, ref_index=self.ref_index, ref_outer_index=outer
        )
        if not filters:
            return found
        graphdef, flat = found
        groups = divided("flatten", flat, filters)
        return (graphdef, *[FlatState(group, sort=False) for group in groups])

    def close(self) -> None:
        """Hand what was met to the update context, and end."""
        update, met = self._update, self.ref_index
        del self.ref_index, self.ctxtag
        if update is None:
            return
        if self.is_inner:
            update.inner_refs = None
        else:
            update.outer_refs = met
            update.outer_objects = {met[found]: found for found in met}


def _state_of(group: list[tuple[Path, object]]) -> object:
    """Return the State of some leaves; a Variable that was split by itself is its own State."""
    if group and not group[0][0]:
        return group[0][1]
    return State._of(nested_of(group))


class MergeContext:
    """Merges structures that may share objects; made by `merge_context`."""

    __slots__ = ("_update", "ctxtag", "index_ref", "is_inner")

    def __init__(
        self, ctxtag: Hashable | None, update: UpdateContext | None, inner: bool | None
    ) -> None:
        self.ctxtag: Hashable | None = ctxtag
        self.index_ref: dict[int, object] = {}
        self._update = update
        self.is_inner: bool | None = inner

    def merge(self, graphdef: GraphDef[A], state: object, /, *states: object) -> A:
        """Build the object of a structure and States; see `typed_nnx.merge`."""
        return self.unflatten(graphdef, leaves_in_order("merge", graphdef, (state, *states)))

    def unflatten(self, graphdef: GraphDef[A], flat_state: object, /, *flat_states: object) -> A:
        """Build the object of a structure and leaves.

        Args:
            graphdef: The structure.
            flat_state: A FlatState, or the list of all leaves.
            *flat_states: More FlatStates.
        """
        _check_open("merge_context", self)
        leaves = flat_state
        if flat_states or not isinstance(flat_state, list):
            leaves = leaves_in_order("unflatten", graphdef, (flat_state, *flat_states))
        update = self._update
        outer = update.outer_objects if update is not None and self.is_inner is False else None
        return unflatten(graphdef, leaves, index_ref=self.index_ref, outer_index_outer_ref=outer)

    def close(self) -> None:
        """Hand what was made to the update context, and end."""
        update, made_at = self._update, self.index_ref
        del self.index_ref, self.ctxtag
        if update is None:
            return
        if self.is_inner:
            update.inner_refs = RefMap()
            for position, made in made_at.items():
                update.inner_refs[made] = position
        else:
            update.clear()


def _check_open(function: str, context: SplitContext | MergeContext) -> None:
    if not hasattr(context, "ctxtag"):
        tag = None if context._update is None else context._update.tag
        raise _misused(f"{function}: the `with` block has ended", tag)


def _misused(problem: str, tag: object) -> GraphError:
    return GraphError(
        f"update_context {tag!r}",
        f"{problem}.",
        "with nnx.update_context(tag): split outside, merge inside, split inside, merge outside",
    )


def current_update_context(tag: Hashable) -> UpdateContext:
    """Return the innermost active update context with a tag.

    Raises:
        GraphError: There is none.
    """
    for context in reversed(_stacks.contexts):
        if context.tag == tag:
            return context
    raise _misused(f"No update context found for tag {tag!r}", tag)


@contextlib.contextmanager
def split_context(ctxtag: Hashable | None = None) -> Iterator[SplitContext]:
    """Return a context whose `split` may be called on several objects that share others.

    Args:
        ctxtag: The tag of the update context that it takes part in.
    """
    update = None if ctxtag is None else current_update_context(ctxtag)
    context = SplitContext(ctxtag, update)
    yield context
    context.close()


@contextlib.contextmanager
def merge_context(
    ctxtag: Hashable | None = None, inner: bool | None = None
) -> Iterator[MergeContext]:
    """Return a context whose `merge` may be called on several structures that share objects.

    Args:
        ctxtag: The tag of the update context that it takes part in.
        inner: Whether this is the merge inside the jax function; needed with a tag.
    """
    if ctxtag is not None and inner is None:
        raise _misused("merge_context needs inner=True or inner=False", ctxtag)
    update = None if ctxtag is None else current_update_context(ctxtag)
    context = MergeContext(ctxtag, update, inner)
    yield context
    context.close()


class UpdateContextManager(contextlib.ContextDecorator):
    """What `update_context` returns: a context manager and a decorator."""

    __slots__ = ("_tag",)

    def __init__(self, tag: Hashable) -> None:
        self._tag = tag

    def __enter__(self) -> UpdateContext:
        context = UpdateContext(self._tag)
        _stacks.contexts.append(context)
        return context

    def __exit__(self, *_: object) -> None:
        _stacks.contexts.pop().clear()

    def __call__(self, f: F) -> F:
        """Return the function with an update context of its own around each call."""
        return super().__call__(f)


def update_context(tag: Hashable) -> UpdateContextManager:
    """Return a context that carries structural changes back to the original objects.

    Four steps, in this order: ``split_context(tag)`` outside and ``merge_context(tag, inner=True)``
    inside the jax function, ``split_context(tag)`` inside and ``merge_context(tag, inner=False)``
    outside. The last one changes the objects that went in: values, attributes, structure.

    Args:
        tag: Distinguishes nested contexts.
    """
    return UpdateContextManager(tag)
