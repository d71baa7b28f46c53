"""The outer side after a call: changed values and structures put into the objects, results built."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from typed_nnx._core.locate import where
from typed_nnx._core.nodes import GraphNode
from typed_nnx._core.paths import attribute_path
from typed_nnx._core.trace import context
from typed_nnx._core.variable_parts import store_value
from typed_nnx._graph.graphdef import VariableDef
from typed_nnx._graph.rebuild import rebuild
from typed_nnx._graph.traversal import Slot
from typed_nnx._transforms.gather import Place
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.signature import Effects, Grown, Part, in_order
from typed_nnx.errors import TraceLevelError


def write_back(parts: Sequence[Part], places: Sequence[Place], flat: Flat) -> Any:
    """Put what a trace changed into the objects, all of it or nothing, and return the result.

    Raises:
        TraceLevelError: A changed object belongs to another trace than the current one.
    """
    effects: Effects = flat.static.value
    writer = _Writer(parts, places, effects)
    values = [flat.values_of(number, part) for number, part in enumerate(parts)]
    for place, changed, own in zip(places, effects.changed, values, strict=True):
        writer.check(place, changed, own)
    if effects.grown:
        writer.check_structures()
    new = [
        writer.write_values(number, place, values[number]) for number, place in enumerate(places)
    ]
    if effects.grown:
        writer.write_structures(new)
    if effects.treedef is None:
        return flat.result
    return writer.build_result(flat.result)


def built_result(parts: Sequence[Part], places: Any, flat: Flat) -> Any:
    """Return the result of a call whose values are in its objects already.

    Args:
        parts: The objects among the arguments.
        places: What stands for each of them, with ``values`` and ``object_at``.
        flat: What the call returned.
    """
    effects: Effects = flat.static.value
    writer = _Writer(parts, places, effects)
    if effects.grown:
        new = [flat.values_of(number, part) for number, part in enumerate(parts)]
        counts = map(len, effects.changed)
        writer.write_structures([own[count:] for own, count in zip(new, counts, strict=True)])
    return flat.result if effects.treedef is None else writer.build_result(flat.result)


class _Objects(dict[int, Any]):
    """The outer objects by their position in the new structures, looked up when asked for."""

    __slots__ = ("_bases", "_places")

    def __init__(self, places: Sequence[Place], bases: Sequence[int]) -> None:
        super().__init__()
        self._places = places
        self._bases = bases

    def __missing__(self, position: int) -> Any:
        number = bisect_right(self._bases, position) - 1
        return self._places[number].object_at(position - self._bases[number])


class _Writer:
    """Writes the effects of one call."""

    __slots__ = ("_effects", "_objects", "_offsets", "_places")

    def __init__(self, parts: Sequence[Part], places: Sequence[Place], effects: Effects) -> None:
        self._places = places
        self._effects = effects
        self._offsets = [part.offset for part in parts]
        self._objects = _Objects(places, effects.bases)

    # -- checks -----------------------------------------------------------------------------------

    def check(self, place: Place, changed: Sequence[int], values: Sequence[Any]) -> None:
        """Raise if a leaf that changed belongs to another trace."""
        trace = context.trace
        leaves = place.leaves
        for number, value in zip(changed, values, strict=False):
            leaf = leaves[number]
            if value is place.values[number]:
                continue  # loops and conditionals return what they did not change
            if type(leaf) is Slot:
                self._check_slot(place, leaf, number)
            elif leaf._nnx_trace is not trace and leaf._nnx_trace != trace:  # type: ignore[union-attr]  # not a Slot
                raise TraceLevelError("Variable", type(leaf).__name__, None, where(leaf))

    def _check_slot(self, place: Place, slot: Slot, number: int) -> None:
        owner = place.root if slot.owner <= 0 else place.graph.objects[slot.owner]
        if isinstance(owner, GraphNode) and owner._nnx_trace != context.trace:
            path = attribute_path((*place.path, *place.structure.layout.paths[number]))
            raise TraceLevelError("Pytree", type(owner).__name__, str(slot.name), path)

    def check_structures(self) -> None:
        """Raise if an object whose structure changed belongs to another trace."""
        for grown in self._effects.grown:
            if grown is not None:
                for each in (grown, *grown.detached):
                    self._check_structure(each)

    def _check_structure(self, grown: Grown) -> None:
        structure = grown.graphdef
        numbers = structure.outer or ()
        for item, number in zip(structure.items, numbers, strict=True):
            if number is None:
                continue
            node = self._outer(number)
            old = node._nnx_spec() if isinstance(node, GraphNode) else None
            changed = old is not None and old != item
            if changed and node._nnx_trace != context.trace:
                raise TraceLevelError("Pytree", type(node).__name__, None, where(node))

    # -- values -----------------------------------------------------------------------------------

    def write_values(self, number: int, place: Place, values: list[Any]) -> list[Any]:
        """Write the values of leaves that changed; return those that belong to new leaves."""
        changed = self._effects.changed[number]
        leaves = place.leaves
        for leaf_number, value in zip(changed, values, strict=False):
            leaf = leaves[leaf_number]
            if value is place.values[leaf_number]:
                continue
            if type(leaf) is Slot:
                leaf.holder[leaf.name] = value
            else:
                store_value(leaf, value)  # type: ignore[arg-type]  # not a Slot
        return list(values[len(changed) :])

    # -- structure --------------------------------------------------------------------------------

    def _outer(self, number: int) -> Any:
        """Return the outer object of an object that went in."""
        part = bisect_right(self._offsets, number) - 1
        return self._places[part].object_at(number - self._offsets[part])

    def write_structures(self, new: Sequence[Sequence[Any]]) -> None:
        """Give the objects the structures that they had at the end of the trace."""
        for grown, values in zip(self._effects.grown, new, strict=True):
            if grown is not None:
                for each in (grown, *grown.detached):
                    self._build(each, values)

    def _build(self, grown: Grown, values: Sequence[Any]) -> Any:
        structure = grown.graphdef
        reuse: dict[int, Any] = {}
        for position, number in enumerate(structure.outer or ()):
            if number is not None:
                reuse[position + structure.base] = self._outer(number)
        leaves: list[Any] = []
        sources = iter(grown.sources)
        for position, item in enumerate(structure.items):
            if type(item) is VariableDef or isinstance(item, str):
                source = next(sources)
                known = reuse.get(position + structure.base)
                if isinstance(source, int):
                    leaves.append(values[source])
                elif source is None:
                    known._replace_metadata(item.meta)  # type: ignore[union-attr]  # it is a Variable
                    leaves.append(known)
                else:
                    leaves.append(self._given(source))
        return rebuild(structure, leaves, self._objects, reuse)

    def _given(self, source: tuple[int, int]) -> Any:
        part, leaf = source
        return self._places[part].values[leaf]

    # -- result -----------------------------------------------------------------------------------

    def build_result(self, result: Any) -> Any:
        """Return the result with objects in it."""
        effects = self._effects
        leaves = effects.treedef.flatten_up_to(result)
        made = [
            leaf if grown is None else self._build(grown, in_order(grown.groups, leaf))
            for grown, leaf in zip(effects.results, leaves, strict=True)
        ]
        return effects.treedef.unflatten(made)
