"""The inner side of a call: objects made of tracers for the user's function."""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax

from typed_nnx._core.fields import flax_kinds
from typed_nnx._core.jax_runtime import is_array_ref
from typed_nnx._core.nodes import GraphNode, TreeDef
from typed_nnx._core.paths import Path
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import REF_ITEM, GraphDef, VariableDef
from typed_nnx._graph.record import Record, adopt, verify
from typed_nnx._graph.traversal import Leaf, Slot, Traversal
from typed_nnx._graph.tree import check_one_prefix
from typed_nnx._transforms.engine.call import holds_objects, is_object, place_name, result_name
from typed_nnx._transforms.engine.closures import Captures, Parameters, identical
from typed_nnx._transforms.engine.explain import NO_PREFIX, changes_of, check_sharing, places
from typed_nnx._transforms.engine.prefixes import (
    ByFilter,
    Function,
    Node,
    Prefix,
    Tree,
    Value,
    broadcast,
    by_filter,
    check_prefix,
)
from typed_nnx._transforms.engine.signature import (
    Alias,
    Divided,
    Effects,
    Groups,
    Part,
    Pure,
    Signature,
    Source,
    Structure,
    TraceResult,
    build_part,
)
from typed_nnx.errors import ForeignModuleError, StructureChangedError

Guests = list[tuple[int | str, Tree, list[Value], TreeDef]]


def _foreign_modules(args: Iterable[Tree], kwargs: Mapping[str, Tree]) -> Guests:
    """Return the Modules and Variables of flax.nnx among arguments, with what they hold."""
    named: list[tuple[int | str, Tree]] = [*enumerate(args), *kwargs.items()]
    if all(isinstance(value, jax.Array | GraphNode | Variable) for _, value in named):
        return []
    kinds = flax_kinds()
    if not kinds:
        return []
    # What one of our own objects holds is written back with it.
    return [
        (root, each, *jax.tree.flatten(each))
        for root, value in named
        for each in jax.tree.leaves(value, is_leaf=lambda x: isinstance(x, kinds) or is_object(x))
        if isinstance(each, kinds)
    ]


def _check_unchanged(guests: Guests, title: str, function: Function) -> None:
    """Raise if a Module or Variable of flax.nnx is not as it came in."""
    for root, module, leaves, structure in guests:
        now, structure_now = jax.tree.flatten(module)
        if structure_now != structure or not identical(leaves, now):
            name = Parameters(function)[root] if isinstance(root, int) else root
            kind = type(module).__name__
            raise ForeignModuleError(
                title,
                f"{place_name((name,))} has a {kind} of flax.nnx, and the function changed it; "
                "typed_nnx writes back the changes of its own Modules only.",
                f"build {kind} with `import typed_nnx as nnx`, or use the transform of flax.nnx",
            )


class _Returned:
    """Values that the trace returns for one object: those of `leaves`, then new ones."""

    __slots__ = ("_filters", "_numbers", "_prefix", "leaves", "values")

    def __init__(
        self, groups: Groups, leaves: tuple[int, ...] = (), values: Iterable[Value] = ()
    ) -> None:
        self._prefix, self._filters = groups.prefix, groups.filters
        self._numbers = list(groups.numbers)
        self.leaves = leaves
        self.values = list(values)

    def add(self, function: str, path: Path, leaf: Value, value: Value) -> None:
        """Add the value of a new leaf."""
        self.values.append(value)
        if self._filters is not None:
            self._numbers.append(self._filters.group_of(function, path, leaf))

    def groups(self, first: int) -> Groups:
        """Return how the values are divided, from one on."""
        return Groups(self._prefix, self._filters, tuple(self._numbers[first:]))

    def divided(self) -> Divided[Value]:
        """Return them as jax takes them."""
        return self.groups(0).divide(self.values)


class Trace:
    """One execution of the user's function on objects of its own.

    Attributes:
        args, kwargs: The arguments with objects made of tracers.
        captured: What the function closes over, likewise.
        given: The raw values of the leaves of each part.
    """

    __slots__ = (
        "_captures", "_entry_of", "_function", "_index", "_name", "_numbers", "_objects", "_records", "_roots",
        "_sources", "_variables", "args", "captured", "given", "kwargs", "signature",
    )  # fmt: skip

    def __init__(
        self, name: str, function: Function, captures: Captures, signature: Signature, *pure: *Pure
    ) -> None:
        self._name = name
        self._function = function
        self._captures = captures
        self.signature: Signature = signature
        self._objects: dict[int, Node] = {}  # by their number among the items of all parts
        self._roots: list[Node] = []
        self._records: list[Record | None] = []
        self.given: list[list[Value]] = []
        # The Variables of the leaves of each part, None for bare arrays.
        self._variables: list[list[Variable[Any] | None]] = []
        self.args, self.kwargs, self.captured = signature.map(self._object, *pure)

    def run(self, number: int | None = None, *before: Tree) -> Tree:
        """Run the user's function and return its result.

        Args:
            number: Which function to run, where there are several.
            *before: Arguments that come first.

        Raises:
            ForeignModuleError: The function changed a Module of flax.nnx.
        """
        function = self._function
        if self.captured:
            function = self._captures.exchanged(function, self.captured)
        if number is not None:
            function = function[number]
        guests = _foreign_modules(self.args, self.kwargs)
        found = function(*before, *self.args, **self.kwargs)
        _check_unchanged(guests, self._name, function)
        return found

    def _object(self, part: Part | Alias, pure: Tree) -> Node:
        if isinstance(part, Alias):
            return self._objects[part.number]
        values = part.groups.join(pure)
        root, made = build_part(part, values, self._objects)
        self._roots.append(root)
        self._records.append(adopt(root, part.graphdef, made))
        # What is not an array may be changed in place, so what it holds is kept apart.
        self.given.append(
            [value if isinstance(value, jax.Array) else _copied(value) for value in values]
        )
        items, base = part.graphdef.items, part.graphdef.base
        self._variables.append(
            [
                made[position + base] if type(items[position]) is VariableDef else None
                for position in part.leaf_positions()
            ]
        )
        return root

    def known(self) -> set[int]:
        """Return the ids of the objects that came in, and of those that belong to them now."""
        found = {id(node) for node in self._objects.values()}
        for root in self._roots:
            found.update(Traversal().visit(root).index)
        return found

    def place_of(self, node: Node) -> str:
        """Return where an object came in, in words."""
        for part in self.signature.parts:
            for position, (path, _) in enumerate(places(part.graphdef, with_statics=False)):
                if self._objects.get(position + part.offset) is node:
                    return place_name((*part.path, *path))
        return "what an argument holds now"

    # -- out --------------------------------------------------------------------------------------

    def finish(self, result: Tree, prefix: Prefix = NO_PREFIX) -> TraceResult:
        """Take the objects apart again: what changed, what came out, and the static `Effects`."""
        self._numbers = {id(found): number for number, found in self._objects.items()}
        self._index: dict[int, int] = {}
        self._entry_of: list[int | None] = []  # by position in the new structures
        self._sources: dict[int, tuple[int, int]] | None = None
        parts = self.signature.parts
        leaves: list[Sequence[Leaf] | None] = [()] * len(parts)
        bases = [part.offset for part in parts]
        found: list[Traversal] = []
        same: list[bool] = []
        if not self._is_untouched() or holds_objects(result):
            found = [self._visit(root) for root in self._roots]
            same = list(map(self._is_same, parts, self.given, found))
            if not self.signature.modes[1]:
                self._check_structures(found, same)
            leaves = [
                each.leaves if unchanged else None
                for each, unchanged in zip(found, same, strict=True)
            ]
            bases = [traversal.base for traversal in found]
        updates = list(map(self._changed, range(len(parts)), leaves))
        changed = tuple([own.leaves for own in updates])
        structures = () if all(same) else self._new_structures(found, same, updates)
        pure_result, treedef, results = self._result(result, prefix)
        effects = Effects(changed, structures, tuple(bases), treedef, results)
        return TraceResult(tuple([own.divided() for own in updates]), pure_result, effects)

    def _is_untouched(self) -> bool:
        """Whether nothing but values changed, as far as the records know; else it is looked at."""
        return not verify.enabled and all(
            record is not None and record.is_untouched(root, part.graphdef)
            for root, record, part in zip(
                self._roots, self._records, self.signature.parts, strict=True
            )
        )

    # -- structure --------------------------------------------------------------------------------

    def _visit(self, root: Node) -> Traversal:
        base = len(self._entry_of)
        traversal: Traversal = Traversal(self._index, base).visit(root)
        leaves = iter(traversal.leaves)
        for item, node in zip(traversal.items, traversal.objects, strict=True):
            known: object = node
            if isinstance(node, Variable) or isinstance(item, str):
                leaf = next(leaves)
                if item == REF_ITEM and type(leaf) is Slot:
                    known = leaf.holder[leaf.name]
            self._entry_of.append(None if known is None else self._numbers.get(id(known)))
        return traversal

    def _check_structures(self, found: Sequence[Traversal], same: Sequence[bool]) -> None:
        """Raise if a structure changed, other than by metadata, in a mode in which it may not."""
        for number, part in enumerate(self.signature.parts):
            if not same[number] and not self._is_same(
                part, self.given[number], found[number], alike=_alike_but_for_metadata
            ):
                after = self._with_origins(found[number])
                raise StructureChangedError(
                    self._name, changes_of(part.graphdef, after, place_name(part.path))
                )

    def _is_same(
        self,
        part: Part,
        given: Sequence[Value],
        found: Traversal,
        alike: Callable[[object, object], bool] = operator.eq,
    ) -> bool:
        """Whether an object has the structure and the very objects that it came with."""
        items = part.graphdef.items
        if len(items) != len(found.items):
            return False
        shift = part.offset - part.graphdef.base
        for position, (old, new) in enumerate(zip(items, found.items, strict=True)):
            if type(new) is int:
                if type(old) is not int or self._entry_of[new] != old + shift:
                    return False
            elif (old is not new and not alike(old, new)) or (
                found.objects[position] is not None
                and (self._entry_of[found.base + position] != part.offset + position)
            ):
                return False
        # What is in a tuple can only be replaced together with it.
        return all(
            type(leaf) is not Slot
            or type(leaf.holder) in (dict, list)
            or leaf.holder[leaf.name] is before
            for leaf, before in zip(found.leaves, given, strict=True)
        )

    # -- values -----------------------------------------------------------------------------------

    def _changed(self, number: int, leaves: Sequence[Leaf] | None) -> _Returned:
        """Return the values of a part that changed.

        Args:
            number: The number of the part.
            leaves: Its leaves now; None if the structure is another, of which the bare arrays are
                then a part.
        """
        part = self.signature.parts[number]
        changed: list[int] = []
        values: list[Value] = []
        before_and_now = zip(self.given[number], self._variables[number], strict=True)
        for leaf, (before, variable) in enumerate(before_and_now):
            if variable is not None:
                value = variable._flat[0][0]
            elif leaves is not None:
                slot: Any = leaves[leaf]
                value = slot.holder[slot.name]
            else:
                continue  # it is part of the new structure
            if part.kept or not is_unchanged(before, value):
                changed.append(leaf)
                values.append(value)
        return _Returned(part.groups.of(changed), tuple(changed), values)

    def _source_of(self, value: Value) -> tuple[int, int] | None:
        """Return the (part, leaf) of the arguments that has a value."""
        if self._sources is None:
            self._sources = {
                id(raw): (number, leaf)
                for number, values in enumerate(self.given)
                if not self.signature.parts[number].kept
                for leaf, raw in enumerate(values)
            }
        return self._sources.get(id(value))

    # -- what is new ------------------------------------------------------------------------------

    def _new_structures(
        self, found: Sequence[Traversal], same: Sequence[bool], updates: Sequence[_Returned]
    ) -> tuple[Structure | None, ...]:
        """Return the new structures, and add the values that go with them."""
        detached = self._detached()
        structures: list[Structure | None] = []
        for number, (traversal, unchanged) in enumerate(zip(found, same, strict=True)):
            own = detached.get(number, [])
            if unchanged and not own:
                structures.append(None)
                continue
            returned = updates[number]
            first = len(returned.values)
            parts = [self._structure(each, returned, first) for each in (traversal, *own)]
            main, *rest = parts
            count = len(returned.values) - first
            groups = returned.groups(first)
            structures.append(Structure(main.graphdef, main.sources, groups, count, tuple(rest)))
        return tuple(structures)

    def _detached(self) -> dict[int, list[Traversal]]:
        """Return, by the number of their part, the objects that went in and are not reached any more."""
        found: dict[int, list[Traversal]] = {}
        parts = self.signature.parts
        offsets = [part.offset for part in parts]
        for number in sorted(self._objects):
            node = self._objects[number]
            if id(node) in self._index:
                continue
            part = bisect_right(offsets, number) - 1
            item = parts[part].graphdef.items[number - offsets[part]]
            # Of a Variable only other metadata is left to say: its value is found anyway.
            other = isinstance(item, VariableDef) and item.meta != node._meta
            if isinstance(node, GraphNode) or other:
                found.setdefault(part, []).append(self._visit(node))
        return found

    def _structure(self, found: Traversal, returned: _Returned, first: int) -> Structure:
        """Return the structure of an object, and add the values that go with it."""
        structure = self._with_origins(found)
        paths = structure.layout.paths
        sources: list[Source] = []
        for path, leaf in zip(paths, found.leaves, strict=True):
            if isinstance(leaf, Variable) and id(leaf) in self._numbers:
                sources.append(None)
                continue
            is_slot = isinstance(leaf, Slot)
            value = leaf.holder[leaf.name] if isinstance(leaf, Slot) else _content(leaf)
            source: Source = self._source_of(value) if is_slot else None
            if source is None:
                source = len(returned.values) - first
                known = value if is_slot else leaf
                returned.add(self._name, path, known, value)
            sources.append(source)
        count = len(returned.values) - first
        return Structure(structure, tuple(sources), returned.groups(first), count)

    def _with_origins(self, found: Traversal) -> GraphDef:
        """Return a structure with the numbers of the objects that came from outside."""
        positions = range(found.base, found.base + len(found.items))
        outer = tuple([self._entry_of[position] for position in positions])
        return GraphDef(tuple(found.items), base=found.base, outer=outer)

    def _result(
        self, result: Tree, prefix: Prefix
    ) -> tuple[Tree, TreeDef | None, tuple[Structure | None, ...]]:
        """Return the result with values in place of objects, and what is static about it."""
        if type(prefix) in (tuple, list, dict):
            check_prefix(self._name, "out", "result", prefix, result)
        leaves, treedef = jax.tree.flatten(result, is_leaf=is_object)
        if not any(map(is_object, leaves)):
            return result, None, ()
        pure: list[Tree] = []
        results: list[Structure | None] = []
        allows_graphs, allows_changes = self.signature.modes
        if not allows_changes:
            check_sharing(self._name, result, self._went_in(), allows_graphs)
        has_prefix = prefix is not NO_PREFIX
        known = self._went_in() if has_prefix else {}
        for leaf, own in zip(
            leaves, broadcast(prefix if has_prefix else None, treedef), strict=True
        ):
            if is_object(leaf):
                filters = by_filter(own)
                if has_prefix:
                    self._check_prefixes(leaf, own, filters, known)
                returned = _Returned(Groups(own, filters))
                results.append(self._structure(self._visit(leaf), returned, 0))
                pure.append(returned.divided())
            else:
                results.append(None)
                pure.append(leaf)
        return jax.tree.unflatten(treedef, pure), treedef, tuple(results)

    def _went_in(self) -> dict[int, tuple[str, Prefix]]:
        """Return where each Variable came in, and its prefix."""
        return {
            id(variable): (
                place_name((*part.path, *part.graphdef.layout.paths[leaf])),
                part.groups.prefix_of(leaf),
            )
            for part, variables in zip(self.signature.parts, self._variables, strict=True)
            for leaf, variable in enumerate(variables)
            if variable is not None
        }

    def _check_prefixes(
        self,
        node: Node,
        prefix: Prefix,
        filters: ByFilter | None,
        known: dict[int, tuple[str, Prefix]],
    ) -> None:
        """Raise if a Variable of an object has another prefix elsewhere."""
        graph: Traversal = Traversal().visit(node)
        for path, leaf in zip(graph.graphdef.layout.paths, graph.leaves, strict=True):
            if isinstance(leaf, Variable):
                own = prefix
                if filters is not None:
                    own = filters.values_in_order[filters.group_of(self._name, path, leaf)]
                check_one_prefix(known, leaf, result_name(path), own, self._name)


def _alike_but_for_metadata(old: object, new: object) -> bool:
    if isinstance(old, VariableDef) and isinstance(new, VariableDef):
        return old.cls is new.cls
    return bool(old == new)


def _content(variable: Variable[Any]) -> Value:
    """Return the value of a new Variable; a reference itself cannot leave a trace."""
    value = variable._flat[0][0]
    return value[...] if is_array_ref(value) else value


def is_unchanged(before: Value, value: Value) -> bool:
    """Whether a value is still the one that was given, leaf by leaf."""
    if before is value:
        return True
    if isinstance(value, jax.Array):
        return False
    treedef: TreeDef
    leaves, treedef = jax.tree.flatten(before)
    others, other = jax.tree.flatten(value)
    return bool(treedef == other) and all(
        one is two for one, two in zip(leaves, others, strict=True)
    )


def _copied(value: Value) -> Value:
    return jax.tree.map(lambda leaf: leaf, value)
