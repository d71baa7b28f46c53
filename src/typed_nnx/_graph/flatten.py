"""`flatten` and `unflatten`: the traversal with its bookkeeping in the caller's hands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Self, TypeVar

from typed_nnx._core.state import FlatState
from typed_nnx._core.variable import Variable
from typed_nnx._graph.gather import leaves_in_order
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.mode import require_tree
from typed_nnx._graph.rebuild import rebuild
from typed_nnx._graph.traversal import Traversal

A = TypeVar("A")


class RefMap(MutableMapping[Any, int]):
    """A mapping from objects, by identity, to their positions."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[int, tuple[Any, int]] = {}

    def __getitem__(self, key: Any) -> int:
        return self._entries[id(key)][1]

    def __setitem__(self, key: Any, value: int) -> None:
        self._entries[id(key)] = (key, value)

    def __delitem__(self, key: Any) -> None:
        del self._entries[id(key)]

    def __contains__(self, key: object) -> bool:
        return id(key) in self._entries

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in self._entries.values()])

    def __len__(self) -> int:
        return len(self._entries)

    @classmethod
    def from_indexmap(cls, index_map: Mapping[int, Any]) -> Self:
        """Return the inverse of a mapping from positions to objects."""
        made = cls()
        made.update((found, position) for position, found in index_map.items())
        return made

    def end(self) -> int:
        """Return the position after the last one."""
        return max([position for _, position in self._entries.values()], default=-1) + 1


class IndexMap(dict[int, Any]):
    """A mapping from positions to objects."""

    @classmethod
    def from_refmap(cls, ref_map: Mapping[Any, int]) -> Self:
        """Return the inverse of a mapping from objects to positions."""
        return cls((position, found) for found, position in ref_map.items())


def traverse(node: Any, ref_index: RefMap, base: int) -> Traversal:
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
) -> tuple[GraphDef[A], FlatState[Any] | list[Any]]:
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


def _raw(leaf: Any) -> Any:
    return leaf.get_raw_value() if isinstance(leaf, Variable) else leaf


def unflatten(
    graphdef: GraphDef[A],
    state: Any,
    /,
    *,
    index_ref: dict[int, Any] | None = None,
    outer_index_outer_ref: dict[int, Any] | None = None,
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
    reuse: dict[int, Any] = {}
    if outer_index_outer_ref is not None and graphdef.outer is not None:
        reuse = {
            position + graphdef.base: outer_index_outer_ref[number]
            for position, number in enumerate(graphdef.outer)
            if number is not None and number in outer_index_outer_ref
        }
    made: A = rebuild(graphdef, leaves, index_ref, reuse, recreate_variables)
    return made
