"""The outer side after a call: changed values and structures put into the objects, results built."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import is_
from typing import Any, NamedTuple

from typed_nnx._core.cells import Cell, Membership, graph_lock
from typed_nnx._core.jax_runtime import context, where
from typed_nnx._core.metadata import Metadata
from typed_nnx._core.nested import nested_of
from typed_nnx._core.nodes import GraphNode, Spec
from typed_nnx._core.paths import Path, attribute_path
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable, store_value
from typed_nnx._graph.graphdef import GraphDef, VariableDef
from typed_nnx._graph.rebuild import rebuild
from typed_nnx._graph.record import Record
from typed_nnx._graph.traversal import Leaf, Slot, Traversal
from typed_nnx._transforms.engine.call import Input, QuickCall, Source
from typed_nnx._transforms.engine.prefixes import Node, Tree, Value
from typed_nnx._transforms.engine.signature import (
    Alias,
    Argument,
    Effects,
    Part,
    Pure,
    Signature,
    Structure,
    TraceResult,
    build_part,
    leaf_of,
    leaf_positions,
)
from typed_nnx.errors import TraceLevelError


def write_back(inputs: Sequence[Input], traced: TraceResult) -> Tree:
    """Put what a trace changed into the objects, all of it or nothing, and return the result.

    Raises:
        TraceLevelError: A changed object belongs to another trace than the current one.
    """
    with graph_lock:
        writer = _Writer(inputs, traced)
        writer.check()
        result = writer.plan()
        writer.write_values()
        writer.write_structures()
    return result


class _Objects(dict[int, Node]):
    """The outer objects by their position in the new structures.

    Those of structures that changed are filled in; the others are where they were.
    """

    __slots__ = ("_bases", "_inputs")

    def __init__(self, inputs: Sequence[Input], bases: Sequence[int]) -> None:
        super().__init__()
        self._inputs = inputs
        self._bases = bases

    def __missing__(self, position: int) -> Node:
        number = bisect_right(self._bases, position) - 1
        return self._inputs[number].object_at(position - self._bases[number])


class _Writer:
    """Plans the effects of one call against the objects as they are, and then makes them."""

    __slots__ = (
        "_effects", "_inputs", "_metadata", "_objects", "_offsets", "_refills", "_traced", "_values",
    )  # fmt: skip

    def __init__(self, inputs: Sequence[Input], traced: TraceResult) -> None:
        self._inputs = inputs
        self._traced = traced
        self._effects = traced.effects
        self._values = [traced.values_of(n, each.part) for n, each in enumerate(inputs)]
        self._offsets = [each.part.offset for each in inputs]
        self._objects = _Objects(inputs, self._effects.bases)
        # What is to be done: new metadata of Variables, new structures of objects.
        self._metadata: list[tuple[Node, Metadata]] = []
        self._refills: list[tuple[Node, Spec, list[Value]]] = []

    def _structures(self) -> Iterator[tuple[int, Structure]]:
        """Yield the new structures, each with the number of its part, in the order of the trace."""
        new = [(n, each) for n, each in enumerate(self._effects.structures) if each is not None]
        yield from new
        detached = [(n, each) for n, one in new for each in one.detached]
        yield from sorted(detached, key=lambda pair: pair[1].graphdef.base)

    def _changed(self) -> Iterator[tuple[Input, int, Leaf, Value]]:
        """Yield (input, number, leaf, new value) of each leaf that changed."""
        for each, changed, values in zip(
            self._inputs, self._effects.changed, self._values, strict=True
        ):
            for number, value in zip(changed, values, strict=False):
                # Loops and conditionals return what they did not change, too.
                if value is not each.values[number]:
                    yield each, number, each.graph.leaves[number], value

    # -- checks -----------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise if something that changed belongs to another trace."""
        trace = context.trace
        for each, number, leaf, _ in self._changed():
            if isinstance(leaf, Slot):
                self._check_slot(each, leaf, number)
            elif leaf._nnx_trace is not trace and leaf._nnx_trace != trace:
                raise TraceLevelError("Variable", type(leaf).__name__, None, where(leaf))
        for _, new in self._structures():
            self._check_structure(new.graphdef)

    def _check_slot(self, source: Input, slot: Slot, number: int) -> None:
        owner = source.object_at(max(slot.owner, 0))
        if isinstance(owner, GraphNode) and owner._nnx_trace != context.trace:
            path = attribute_path((*source.part.path, *source.part.graphdef.layout.paths[number]))
            raise TraceLevelError("Pytree", type(owner).__name__, str(slot.name), path)

    def _check_structure(self, structure: GraphDef) -> None:
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

    def plan(self) -> Tree:
        """Build what is new, note what is to be done, and return the result with objects in it."""
        effects = self._effects
        structures = list(self._structures())
        results = [each for each in effects.results if each is not None]
        for new in (*[each for _, each in structures], *results):
            self._objects.update(self._known(new.graphdef))
        for number, new in structures:
            self._build(new, self._values[number][len(effects.changed[number]) :])
        if effects.treedef is None:
            return self._traced.result
        leaves = effects.treedef.flatten_up_to(self._traced.result)
        return effects.treedef.unflatten(
            [
                leaf if new is None else self._build(new, new.groups.join(leaf))
                for new, leaf in zip(effects.results, leaves, strict=True)
            ]
        )

    def _known(self, structure: GraphDef) -> dict[int, Node]:
        """Return the outer objects in a new structure by their positions."""
        return {
            position + structure.base: self._outer(number)
            for position, number in enumerate(structure.outer or ())
            if number is not None
        }

    def _outer(self, number: int) -> Node:
        """Return the outer object of an object that went in."""
        part = bisect_right(self._offsets, number) - 1
        return self._inputs[part].object_at(number - self._offsets[part])

    def _build(self, new: Structure, values: Sequence[Value]) -> Node:
        structure = new.graphdef
        reuse = self._known(structure)
        leaves: list[Value] = []
        for position, source in zip(leaf_positions(structure), new.sources, strict=True):
            item = structure.items[position]
            if isinstance(source, int):
                leaves.append(values[source])
            elif source is not None:
                part, leaf = source
                leaves.append(self._inputs[part].values[leaf])
            elif isinstance(item, VariableDef):  # it is there already
                known = reuse.get(position + structure.base)
                self._metadata.append((known, item.meta))
                leaves.append(known)
        return rebuild(structure, leaves, self._objects, reuse, refills=self._refills)

    # -- the changes ------------------------------------------------------------------------------

    def write_values(self) -> None:
        """Write the values of leaves that changed."""
        for _, _, leaf, value in self._changed():
            if isinstance(leaf, Slot):
                leaf.holder[leaf.name] = value
            else:
                store_value(leaf, value)

    def write_structures(self) -> None:
        """Give the objects the structures that they had at the end of the trace."""
        for variable, meta in self._metadata:
            variable._replace_metadata(meta)
        for node, spec, children in self._refills:
            node._nnx_refill(spec, children)


# -- records ----------------------------------------------------------------------------------------


class _ValueList(NamedTuple):
    """The list of raw values that the cell of a record holds, as it is after a write.

    Attributes:
        cell: The cell.
        positions: Which entries of it the write changes; None for all.
        sources: Which of the new values go there; None for all, in order.
    """

    cell: Cell
    positions: Sequence[int] | None
    sources: Sequence[int] | None

    def renewed(self) -> list[Value]:
        """Give the cell a new list, which is empty, and return it."""
        values: list[Value] = []
        self.cell.values = values
        return values

    def fill(self, values: list[Value], known: list[Value] | None, new: list[Value]) -> None:
        """Fill the new list of the cell; without all values it stays empty, and is read again."""
        sources = new if self.sources is None else [new[source] for source in self.sources]
        if self.positions is None:
            values.extend(sources)
        elif known:
            merged = known.copy()  # a call of another thread may have the list
            for position, value in zip(self.positions, sources, strict=True):
                merged[position] = value
            values.extend(merged)


class RecordWriter:
    """Writes what one kind of call changes into the Variables of a record.

    The list of values that the record holds is renewed, and so are those of other records that have
    some of the Variables too: a call that follows finds it.
    """

    __slots__ = ("_boxes", "_cell", "_list", "_memberships", "_others", "_variables")

    def __init__(self, record: Record, changed: Sequence[int]) -> None:
        # There are no slots in such a record.
        variables: list[Any] = [record.leaves[number] for number in changed]
        self._variables: list[Variable[Any]] = variables
        self._boxes: list[list[Value]] = [variable._flat[0] for variable in self._variables]
        self._cell = record.cell
        self._list = _ValueList(
            record.cell, None if len(changed) == len(record.leaves) else changed, None
        )
        self._others: list[_ValueList] = []
        self._memberships: list[Membership] = []

    def write(self, new: list[Value]) -> None:
        """Write values, with the lock held."""
        cell = self._cell
        values: list[Value] = []
        known, others = cell.values, self._other_lists() if cell.shared else ()
        # As in `read`: known before it is filled, so that an assignment by another thread drops it.
        cell.values = values
        renewed = [(each, each.cell.values, each.renewed()) for each in others]
        for box, value in zip(self._boxes, new, strict=True):
            box[0] = value
        self._list.fill(values, known, new)
        for each, before, own in renewed:
            each.fill(own, before, new)

    def _other_lists(self) -> list[_ValueList]:
        """Return the lists of all other records that have one of the Variables."""
        memberships = [variable._nnx_cells for variable in self._variables]
        known = self._memberships
        if len(known) != len(memberships) or not all(map(is_, memberships, known)):
            found: dict[Cell, list[int]] = {}
            for source, cells in enumerate(memberships):
                for cell in cells:
                    found.setdefault(cell, []).append(source)
            found.pop(self._cell, None)
            self._others = [self._other(*each) for each in found.items()]
            self._memberships = memberships
        return self._others

    def _other(self, cell: Cell, sources: list[int]) -> _ValueList:
        record: Record | None = cell.record()
        if record is None or record.has_slots:
            return _ValueList(cell, None, ())  # it is not used any more, or has no such list
        numbers = {id(leaf): number for number, leaf in enumerate(record.leaves)}
        pairs = sorted([(numbers[id(self._variables[source])], source) for source in sources])
        ordered = [source for _, source in pairs]
        if len(pairs) == len(numbers):
            return _ValueList(cell, None, ordered)
        return _ValueList(cell, [position for position, _ in pairs], ordered)


def finish(
    call: QuickCall, signature: Signature, args: Sequence[Tree], traced: tuple[Tree, Tree, Effects]
) -> Tree:
    """Write what a call changed into its objects, and return the result.

    `traced` is a `TraceResult` as a plain tuple, which costs jax less.
    """
    updates, result, effects = traced
    if effects.is_nothing:
        return result
    parts = signature.parts
    if effects.is_only_values:
        if any(part.groups.filters for part in parts):
            whole = TraceResult(*traced)
            updates = tuple([whole.values_of(number, part) for number, part in enumerate(parts)])
        if write_values(call.graphs, effects, updates):
            return result
    return write_back(call.inputs(args, parts), TraceResult(*traced))


def write_values(
    graphs: Sequence[Source], effects: Effects, updates: Sequence[list[Value]]
) -> bool:
    """Write changed values into Variables, all at one moment; False if `write_back` has to do it."""
    trace = context.trace
    writers: list[RecordWriter | Variable[Any] | None] = []
    for graph, changed in zip(graphs, effects.changed, strict=True):
        if not changed:
            writers.append(None)
        elif isinstance(graph, Record):
            if graph.common_trace() is not trace:
                return False
            known, writer = graph.targets
            if known is not effects:
                if graph.has_slots:
                    return False
                writer = RecordWriter(graph, changed)
                graph.targets = (effects, writer)
            writers.append(writer)
        elif graph._nnx_trace is not trace:
            return False
        else:
            writers.append(graph)
    with graph_lock:
        for writer, new in zip(writers, updates, strict=True):
            if isinstance(writer, RecordWriter):
                writer.write(new)
            elif writer is not None:
                store_value(writer, new[0])
    return True


# -- calls built anew -----------------------------------------------------------------------------------


def built_arguments(signature: Signature, *pure: *Pure) -> tuple[tuple[Tree, ...], dict[str, Tree]]:
    """Return the arguments of a call with new objects, of shapes or the like in place of values."""
    return _built(signature, pure, None)[0]


def built_result(signature: Signature, traced: TraceResult, *pure: *Pure) -> Tree:
    """Return the result of a call with new objects, also in place of arguments that came out."""
    writer = _Writer(_built(signature, pure, traced)[1], traced)
    result = writer.plan()
    writer.write_structures()
    return result


def _built(
    signature: Signature, pure: Pure, traced: TraceResult | None
) -> tuple[tuple[tuple[Tree, ...], dict[str, Tree]], list[Input]]:
    """Build the arguments of a call, with the values that the call changed if it is given."""
    objects: dict[int, Node] = {}
    inputs: list[Input] = []

    def build(part: Part | Alias, pure: Tree) -> Node:
        if isinstance(part, Alias):
            return objects[part.number]
        given = part.groups.join(pure)
        values = list(given)
        if traced is not None:
            for leaf, value in traced.changes(len(inputs), part):
                values[leaf] = value
        structure = part.graphdef
        root, made = build_part(part, list(map(leaf_of, structure.leaf_items, values)), objects)
        own = {place - structure.base: node for place, node in made.items()}
        inputs.append(Input(part, root, Traversal.of_built(structure, own, ()), given))
        return root

    args, kwargs, _ = signature.map(build, *pure)
    return (tuple(args), kwargs), inputs


def changes(
    signature: Signature, traced: TraceResult, arguments: Sequence[Argument | None]
) -> tuple[Tree, ...]:
    """Return what a call changed: for each of the arguments a State in place of each object."""
    numbers = {id(part): number for number, part in enumerate(signature.parts)}

    def state(part: Part | Alias) -> State:
        if isinstance(part, Alias):
            return State({})
        return State._of(nested_of(_changes_of(part, numbers[id(part)], traced)))

    return tuple([None if argument is None else argument.build(state) for argument in arguments])


def _changes_of(part: Part, number: int, traced: TraceResult) -> list[tuple[Path, Value]]:
    """Return path and description of each leaf that was changed or added."""
    paths, items = part.graphdef.layout.paths, part.graphdef.leaf_items
    found = {
        paths[leaf]: leaf_of(items[leaf], value) for leaf, value in traced.changes(number, part)
    }
    structure = traced.effects.structure_of(number)
    if structure is not None:
        paths, items = structure.graphdef.layout.paths, structure.graphdef.leaf_items
        new = traced.values_of(number, part)[len(traced.effects.changed[number]) :]
        for path, item, source in zip(paths, items, structure.sources, strict=True):
            if isinstance(source, int):
                found[path] = leaf_of(item, new[source])
    return list(found.items())
