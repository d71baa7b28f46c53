"""What became of the objects of a call: changed values, changed structures, results."""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from typed_nnx._core.nodes import GraphNode
from typed_nnx._core.references import is_array_ref
from typed_nnx._core.variable import Variable
from typed_nnx._graph import verify
from typed_nnx._graph.graphdef import REF_ITEM, GraphDef, VariableDef
from typed_nnx._graph.record import Record
from typed_nnx._graph.traversal import Leaf, Slot, Traversal
from typed_nnx._transforms.gather import is_object
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.places import place_name
from typed_nnx._transforms.prefix_structure import check_prefix
from typed_nnx._transforms.prefixes import ByFilter, Prefix, broadcast, by_filter
from typed_nnx._transforms.result_checks import ResultCheck
from typed_nnx._transforms.signature import (
    Effects,
    Grown,
    Part,
    Signature,
    Source,
    Static,
    in_groups,
)
from typed_nnx._transforms.structure_changes import changes_of
from typed_nnx.errors import StructureChangedError


class _Values:
    """Values that the trace returns for one object, with the group of each."""

    __slots__ = ("filters", "groups", "values")

    def __init__(self, filters: ByFilter | None) -> None:
        self.filters = filters
        self.groups: list[int] = []
        self.values: list[Any] = []

    def pure(self) -> Any:
        """Return them as jax gets them."""
        return in_groups(self.filters, self.groups, self.values)


class Leaving:
    """Takes the objects of one call apart after the user's function ran.

    Args:
        function: The name of the transform, for errors.
        signature: What is static about the call.
        objects: The objects that went in, by their number among the items of all parts.
        given: The raw values of the leaves that went in.
        variables: The Variables that they went into, None for bare arrays.
    """

    __slots__ = (
        "_entry_of",
        "_function",
        "_given",
        "_index",
        "_numbers",
        "_objects",
        "_signature",
        "_slots",
        "_variables",
    )  # fmt: skip

    def __init__(
        self,
        function: str,
        signature: Signature,
        objects: Mapping[int, Any],
        given: Sequence[Sequence[Any]],
        variables: Sequence[Sequence[Variable[Any] | None]],
    ) -> None:
        self._function = function
        self._signature = signature
        self._given = given
        self._variables = variables
        self._objects = objects
        self._numbers = {id(found): number for number, found in objects.items()}
        self._index: dict[int, int] = {}
        self._entry_of: list[int | None] = []  # by position in the new structures
        self._slots: dict[int, tuple[int, int]] | None = None

    def flat(
        self,
        roots: Sequence[Any],
        result: Any,
        prefix: Prefix,
        records: Sequence[Record | None],
    ) -> Flat:
        """Return what the trace returns to jax.

        Args:
            roots: The objects of the parts.
            result: What the user's function returned.
            prefix: The prefix of the result.
            records: The records of the objects; None where only a traversal will tell.
        """
        if self._is_untouched(roots, records) and not any(
            map(is_object, jax.tree.leaves(result, is_leaf=is_object))
        ):
            return self._only_values(result, prefix)
        parts = self._signature.parts
        found = [self._visit(root) for root in roots]
        same = list(map(self._is_same, parts, self._given, found))
        if not self._signature.modes[1]:
            self._check_structures(found, same)
        updates, changed = self._updates(
            [
                each.leaves if unchanged else None
                for each, unchanged in zip(found, same, strict=True)
            ]
        )
        grown = () if all(same) else self._all_grown(found, same, updates)
        bases = tuple([traversal.base for traversal in found])
        pure_result, treedef, results = self._result(result, prefix)
        static = Static(Effects(changed, grown, bases, treedef, results))
        return Flat(tuple([own.pure() for own in updates]), pure_result, static)

    def _is_untouched(self, roots: Sequence[Any], records: Sequence[Record | None]) -> bool:
        """Whether nothing but values changed, as far as the records know; else it is looked at."""
        return not verify.enabled and all(
            record is not None and record.is_untouched(root, part.graphdef)
            for root, record, part in zip(roots, records, self._signature.parts, strict=True)
        )

    def _only_values(self, result: Any, prefix: Prefix) -> Flat:
        """Return what the trace returns to jax if nothing but values changed."""
        parts = self._signature.parts
        updates, changed = self._updates([()] * len(parts))
        bases = tuple([part.offset for part in parts])
        pure_result, _, _ = self._result(result, prefix)
        static = Static(Effects(changed, (), bases, None, ()))
        return Flat(tuple([own.pure() for own in updates]), pure_result, static)

    # -- structure --------------------------------------------------------------------------------

    def _visit(self, root: Any) -> Traversal:
        base = len(self._entry_of)
        traversal: Traversal = Traversal(self._index, base).visit(root)
        leaves = iter(traversal.leaves)
        for item, node in zip(traversal.items, traversal.objects, strict=True):
            known = node
            if isinstance(node, Variable) or isinstance(item, str):
                leaf = next(leaves)
                if item == REF_ITEM and type(leaf) is Slot:
                    known = leaf.holder[leaf.name]
            self._entry_of.append(None if known is None else self._numbers.get(id(known)))
        return traversal

    def _check_structures(self, found: Sequence[Traversal], same: Sequence[bool]) -> None:
        """Raise if a structure changed, other than by metadata, in a mode in which it may not."""
        for number, part in enumerate(self._signature.parts):
            if not same[number] and not self._is_same(
                part, self._given[number], found[number], alike=_alike_but_for_metadata
            ):
                after = self._with_origins(found[number])
                raise StructureChangedError(
                    self._function, changes_of(part.graphdef, after, place_name(part.path))
                )

    def _is_same(
        self,
        part: Part,
        given: Sequence[Any],
        found: Traversal,
        alike: Callable[[Any, Any], bool] = operator.eq,
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

    def _updates(
        self, places: Sequence[Sequence[Leaf] | None]
    ) -> tuple[list[_Values], tuple[tuple[int, ...], ...]]:
        """Return for each part the values that changed, and the leaves that they belong to.

        Args:
            places: For each part what `_changed` asks for.
        """
        updates, changed = [], []
        for number, part in enumerate(self._signature.parts):
            leaves = self._changed(number, places[number])
            own = _Values(part.filters)
            own.values = [value for _, value in leaves]
            if part.groups is not None:
                own.groups = [part.groups[leaf] for leaf, _ in leaves]
            updates.append(own)
            changed.append(tuple([leaf for leaf, _ in leaves]))
        return updates, tuple(changed)

    def _changed(self, number: int, places: Sequence[Leaf] | None) -> list[tuple[int, Any]]:
        """Return (leaf, value) of each leaf of a part that changed.

        Args:
            number: The number of the part.
            places: Where the leaves are now; None if the structure is another, of which the bare
                arrays are then a part.
        """
        kept = self._signature.parts[number].kept
        changed: list[tuple[int, Any]] = []
        leaves = zip(self._given[number], self._variables[number], strict=True)
        for leaf, (before, variable) in enumerate(leaves):
            if variable is not None:
                value = variable._flat[0][0]
            elif places is not None:
                slot: Any = places[leaf]
                value = slot.holder[slot.name]
            else:
                continue  # it is part of the new structure
            if kept or not is_unchanged(before, value):
                changed.append((leaf, value))
        return changed

    def _source_of(self, value: Any) -> tuple[int, int] | None:
        """Return the (part, leaf) of the arguments that has a value."""
        if self._slots is None:
            self._slots = {
                id(raw): (number, leaf)
                for number, values in enumerate(self._given)
                if not self._signature.parts[number].kept
                for leaf, raw in enumerate(values)
            }
        return self._slots.get(id(value))

    # -- what is new ------------------------------------------------------------------------------

    def _all_grown(
        self, found: Sequence[Traversal], same: Sequence[bool], updates: Sequence[_Values]
    ) -> tuple[Grown | None, ...]:
        """Return the new structures, and add the values that go with them."""
        detached = self._detached()
        grown: list[Grown | None] = []
        for number, (traversal, unchanged) in enumerate(zip(found, same, strict=True)):
            own = detached.get(number, [])
            if unchanged and not own:
                grown.append(None)
                continue
            returned = updates[number]
            first = len(returned.values)
            parts = [self._grown(each, returned, first) for each in (traversal, *own)]
            main, *rest = parts
            groups = None if returned.filters is None else tuple(returned.groups[first:])
            count = len(returned.values) - first
            grown.append(Grown(main.graphdef, main.sources, groups, count, tuple(rest)))
        return tuple(grown)

    def _detached(self) -> dict[int, list[Traversal]]:
        """Return, by the number of their part, the objects that went in and are not reached any more."""
        found: dict[int, list[Traversal]] = {}
        parts = self._signature.parts
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

    def _grown(self, found: Traversal, returned: _Values, first: int) -> Grown:
        """Return the structure of an object, and add the values that go with it."""
        structure = self._with_origins(found)
        paths = structure.layout.paths
        sources: list[Source] = []
        for path, leaf in zip(paths, found.leaves, strict=True):
            if isinstance(leaf, Variable) and id(leaf) in self._numbers:
                sources.append(None)
                continue
            value = leaf.holder[leaf.name] if type(leaf) is Slot else _content(leaf)
            source: Source = self._source_of(value) if type(leaf) is Slot else None
            if source is None:
                source = len(returned.values) - first
                returned.values.append(value)
                if returned.filters is not None:
                    known = value if type(leaf) is Slot else leaf
                    returned.groups.append(returned.filters.group_of(self._function, path, known))
            sources.append(source)
        groups = None if returned.filters is None else tuple(returned.groups[first:])
        return Grown(structure, tuple(sources), groups, len(returned.values) - first)

    def _with_origins(self, found: Traversal) -> GraphDef[Any]:
        """Return a structure with the numbers of the objects that came from outside."""
        positions = range(found.base, found.base + len(found.items))
        outer = tuple([self._entry_of[position] for position in positions])
        return GraphDef(tuple(found.items), base=found.base, outer=outer)

    def _result(self, result: Any, prefix: Prefix) -> tuple[Any, Any, tuple[Grown | None, ...]]:
        """Return the result with values in the place of objects, and what is static about it."""
        if type(prefix) in (tuple, list, dict):
            check_prefix(self._function, "out", "result", prefix, result)
        leaves, treedef = jax.tree.flatten(result, is_leaf=is_object)
        if not any(map(is_object, leaves)):
            return result, None, ()
        pure: list[Any] = []
        results: list[Grown | None] = []
        check = ResultCheck(self._function, self._signature, self._objects, prefix)
        check.trees(result)
        for leaf, own in zip(leaves, broadcast(check.prefix, treedef), strict=True):
            if is_object(leaf):
                check.prefixes(leaf, own)
                returned = _Values(by_filter(own))
                results.append(self._grown(self._visit(leaf), returned, 0))
                pure.append(returned.pure())
            else:
                results.append(None)
                pure.append(leaf)
        return jax.tree.unflatten(treedef, pure), treedef, tuple(results)


def _alike_but_for_metadata(old: Any, new: Any) -> bool:
    if isinstance(old, VariableDef) and isinstance(new, VariableDef):
        return old.cls is new.cls
    return bool(old == new)


def _content(variable: Any) -> Any:
    """Return the value of a new Variable; a reference itself cannot leave a trace."""
    value = variable._flat[0][0]
    return value[...] if is_array_ref(value) else value


def is_unchanged(before: Any, value: Any) -> bool:
    """Whether a value is still the one that was given, leaf by leaf."""
    if before is value:
        return True
    if isinstance(value, jax.Array):
        return False
    treedef: Any
    leaves, treedef = jax.tree.flatten(before)
    others, other = jax.tree.flatten(value)
    return bool(treedef == other) and all(
        one is two for one, two in zip(leaves, others, strict=True)
    )
