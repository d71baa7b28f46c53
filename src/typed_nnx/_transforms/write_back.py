"""The outer side after a call: changed values and structures put into the objects, results built."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from typed_nnx._core.cells import graph_lock
from typed_nnx._core.locate import where
from typed_nnx._core.metadata import Metadata
from typed_nnx._core.nodes import GraphNode, Spec
from typed_nnx._core.paths import attribute_path
from typed_nnx._core.trace import context
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_parts import store_value
from typed_nnx._graph.graphdef import GraphDef, VariableDef
from typed_nnx._graph.rebuild import rebuild
from typed_nnx._graph.traversal import Leaf, Slot
from typed_nnx._transforms.gather import Place
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.signature import Effects, Grown, Part, in_order
from typed_nnx.errors import TraceLevelError


def write_back(parts: Sequence[Part], places: Sequence[Place], flat: Flat) -> Any:
    """Put what a trace changed into the objects, all of it or nothing, and return the result.

    Raises:
        TraceLevelError: A changed object belongs to another trace than the current one.
    """
    with graph_lock:
        writer = _Writer(parts, places, flat)
        writer.check()
        result = writer.plan()
        writer.write_values()
        writer.write_structures()
    return result


def built_result(parts: Sequence[Part], places: Any, flat: Flat) -> Any:
    """Return the result of a call whose values are in its objects already.

    Args:
        parts: The objects among the arguments.
        places: What stands for each of them, with ``values`` and ``object_at``.
        flat: What the call returned.
    """
    writer = _Writer(parts, places, flat)
    result = writer.plan()
    writer.write_structures()
    return result


class _Objects(dict[int, Any]):
    """The outer objects by their position in the new structures.

    Those of structures that changed are filled in; the others are where they were.
    """

    __slots__ = ("_bases", "_places")

    def __init__(self, places: Sequence[Place], bases: Sequence[int]) -> None:
        super().__init__()
        self._places = places
        self._bases = bases

    def __missing__(self, position: int) -> Any:
        number = bisect_right(self._bases, position) - 1
        return self._places[number].object_at(position - self._bases[number])


class _Writer:
    """Plans the effects of one call against the objects as they are, and then makes them."""

    __slots__ = (
        "_effects",
        "_flat",
        "_metadata",
        "_objects",
        "_offsets",
        "_places",
        "_refills",
        "_values",
    )

    def __init__(self, parts: Sequence[Part], places: Sequence[Place], flat: Flat) -> None:
        self._places = places
        self._flat = flat
        self._effects: Effects = flat.static.value
        self._values = [flat.values_of(number, part) for number, part in enumerate(parts)]
        self._offsets = [part.offset for part in parts]
        self._objects = _Objects(places, self._effects.bases)
        # What is to be done: new metadata of Variables, new structures of objects.
        self._metadata: list[tuple[Any, Metadata]] = []
        self._refills: list[tuple[Any, Spec, list[Any]]] = []

    def _structures(self) -> Iterator[tuple[int, Grown]]:
        """Yield the new structures, each with the number of its part, in the order of the trace."""
        grown = [(n, each) for n, each in enumerate(self._effects.grown) if each is not None]
        yield from grown
        detached = [(n, each) for n, one in grown for each in one.detached]
        yield from sorted(detached, key=lambda pair: pair[1].graphdef.base)

    def _changed(self) -> Iterator[tuple[Place, int, Leaf, Any]]:
        """Yield (place, number, leaf, new value) of each leaf that changed."""
        for place, changed, values in zip(
            self._places, self._effects.changed, self._values, strict=True
        ):
            for number, value in zip(changed, values, strict=False):
                # Loops and conditionals return what they did not change, too.
                if value is not place.values[number]:
                    yield place, number, place.leaves[number], value

    # -- checks -----------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise if something that changed belongs to another trace."""
        trace = context.trace
        for place, number, leaf, _ in self._changed():
            if type(leaf) is Slot:
                self._check_slot(place, leaf, number)
            elif leaf._nnx_trace is not trace and leaf._nnx_trace != trace:  # type: ignore[union-attr]  # not a Slot
                raise TraceLevelError("Variable", type(leaf).__name__, None, where(leaf))
        for _, grown in self._structures():
            self._check_structure(grown.graphdef)

    def _check_slot(self, place: Place, slot: Slot, number: int) -> None:
        owner = place.root if slot.owner <= 0 else place.graph.objects[slot.owner]
        if isinstance(owner, GraphNode) and owner._nnx_trace != context.trace:
            path = attribute_path((*place.path, *place.structure.layout.paths[number]))
            raise TraceLevelError("Pytree", type(owner).__name__, str(slot.name), path)

    def _check_structure(self, structure: GraphDef[Any]) -> None:
        numbers = structure.outer or ()
        for item, number in zip(structure.items, numbers, strict=True):
            node = None if number is None else self._outer(number)
            if isinstance(node, GraphNode):
                kind, changed = "Pytree", node._nnx_spec() != item
            elif isinstance(node, Variable) and isinstance(item, VariableDef):
                kind, changed = "Variable", node._meta != item.meta
            else:
                continue
            if changed and node._nnx_trace != context.trace:
                raise TraceLevelError(kind, type(node).__name__, None, where(node))

    # -- the plan -----------------------------------------------------------------------------------

    def plan(self) -> Any:
        """Build what is new, remember what is to be done, and return the result with objects in it."""
        effects = self._effects
        results = [each for each in effects.results if each is not None]
        structures = list(self._structures())
        for grown in (*[each for _, each in structures], *results):
            base = grown.graphdef.base
            for position, number in enumerate(grown.graphdef.outer or ()):
                if number is not None:
                    self._objects[position + base] = self._outer(number)
        for number, grown in structures:
            self._build(grown, self._values[number][len(effects.changed[number]) :])
        if effects.treedef is None:
            return self._flat.result
        leaves = effects.treedef.flatten_up_to(self._flat.result)
        made = [
            leaf if grown is None else self._build(grown, in_order(grown.groups, leaf))
            for grown, leaf in zip(effects.results, leaves, strict=True)
        ]
        return effects.treedef.unflatten(made)

    def _outer(self, number: int) -> Any:
        """Return the outer object of an object that went in."""
        part = bisect_right(self._offsets, number) - 1
        return self._places[part].object_at(number - self._offsets[part])

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
                    self._metadata.append((known, item.meta))  # type: ignore[union-attr]  # it is a Variable
                    leaves.append(known)
                else:
                    part, leaf = source
                    leaves.append(self._places[part].values[leaf])
        return rebuild(structure, leaves, self._objects, reuse, refills=self._refills)

    # -- the changes ------------------------------------------------------------------------------

    def write_values(self) -> None:
        """Write the values of leaves that changed."""
        for _, _, leaf, value in self._changed():
            if type(leaf) is Slot:
                leaf.holder[leaf.name] = value
            else:
                store_value(leaf, value)  # type: ignore[arg-type]  # not a Slot

    def write_structures(self) -> None:
        """Give the objects the structures that they had at the end of the trace."""
        for variable, meta in self._metadata:
            variable._replace_metadata(meta)
        for node, spec, children in self._refills:
            node._nnx_refill(spec, children)
