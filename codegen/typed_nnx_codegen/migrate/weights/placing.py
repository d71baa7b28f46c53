"""Which Linen variable goes to which place of a model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from typed_nnx_codegen.migrate.weight_map import ClassMap
from typed_nnx_codegen.migrate.weight_patterns import BadPattern
from typed_nnx_codegen.migrate.weights.class_maps import ClassMaps, Found, matching
from typed_nnx_codegen.migrate.weights.derived_names import derived_slots
from typed_nnx_codegen.migrate.weights.library_layers import as_nnx_names
from typed_nnx_codegen.migrate.weights.models import (
    NowhereError,
    Slot,
    is_array,
    is_library_layer,
    is_module,
    is_variable,
    resolve,
    step,
)
from typed_nnx_codegen.migrate.weights.problems import Problems
from typed_nnx_codegen.migrate.weights.trees import Leaf, Path, Tree, laid_out, sliced, stack_size

# Values that modules sow: they are in no checkpoint, and the map may be silent about them.
SOWN = "intermediates"


@dataclass(frozen=True)
class Placement:
    """A Linen variable and its place.

    Attributes:
        linen: The Linen path, or paths.
        slot: The place.
        value: The value, in the layout of the place.
    """

    linen: str
    slot: Slot
    value: Any

    @property
    def collection(self) -> str:
        """The Linen collection."""
        return self.linen.partition("/")[0]


@dataclass
class Placer:
    """Follows the entries of classes through a model.

    Attributes:
        maps: The maps that count.
        problems: What was found to be wrong.
        placements: What was found.
        dropped: The Linen variables that the map has no place for, on purpose.
    """

    maps: ClassMaps
    problems: Problems
    placements: list[Placement] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)

    def place(self, tree: Tree, slot: Slot, name: str | None = None) -> None:
        """Find the places of the Linen variables of one object.

        Args:
            tree: The variables, by their path from the object on.
            slot: The object.
            name: The name of its class in the map, where it is another one.
        """
        cls = type(slot.content)
        entries = self.maps.entries(cls, name) if is_module(slot.content) else []
        if is_library_layer(cls) and not any(each.variables for each in entries):
            entries = []  # it derives from a layer, and its variables have the names of that
        if entries:
            self._by_entries(tree, slot, entries)
        elif is_library_layer(cls) or not is_module(slot.content):
            self._by_names(as_nnx_names(cls, tree), slot)
        else:
            for leaf in tree.values():
                self._extra(leaf, f"the map says nothing of the class {name or cls.__name__}")

    # -- by the entries of a class ----------------------------------------------------------------

    def _by_entries(self, tree: Tree, slot: Slot, entries: Sequence[ClassMap]) -> None:
        names = {path[1] for path in tree if len(path) > 1}
        derived = derived_slots(names, slot, entries, self.maps)
        for name, held in derived.items():
            part = {
                (path[0], *path[2:]): leaf for path, leaf in tree.items() if path[1:2] == (name,)
            }
            self.place(part, held)
        tree = {path: leaf for path, leaf in tree.items() if not derived.keys() & {*path[1:2]}}
        inside: dict[str, tuple[Slot, Tree]] = {}
        for (entry, _), (found, part) in _by_entry(tree, entries, self._unmatched(slot)).items():
            if found.target is None:
                self.dropped += [leaf.name for leaf in part.values()]
                continue
            for rest, target in self._targets(found, part, slot):
                if is_module(target.content) or isinstance(target.content, dict | list | tuple):
                    known = inside.setdefault(target.path, (target, {}))[1]
                    self._merge(known, rest)
                else:
                    self._at_value(found, rest, target, entry)
        for target, rest in inside.values():
            self.place(rest, target)

    def _unmatched(self, slot: Slot) -> Any:
        def tell(path: Path, leaf: Leaf) -> None:
            if path[0] == SOWN and len(path) == 2:
                self._by_names({path: leaf}, slot)
            else:
                of = type(slot.content).__name__
                self._extra(leaf, f"no entry of {of} is for {'/'.join(path)}")

        return tell

    def _merge(self, known: Tree, more: Tree) -> None:
        for path, leaf in more.items():
            if path in known:
                self.problems.twice.append(f"{known[path].name} and {leaf.name}")
            known[path] = leaf

    def _targets(self, found: Found, tree: Tree, slot: Slot) -> Iterator[tuple[Tree, Slot]]:
        """Yield the places that an entry leads to, each with the variables that go there."""
        target = found.target
        assert target is not None
        try:
            if target.unstack is None:
                yield tree, resolve(slot, target.pattern.written(found.bindings))
                return
            sizes = {stack_size(leaf, target.unstack) for leaf in tree.values()}
            (free,) = target.pattern.names - found.bindings.keys()
        except (NowhereError, BadPattern) as error:
            for leaf in tree.values():
                self._extra(leaf, f"{target.to}: {error}")
            return
        if len(sizes) != 1 or None in sizes:
            for leaf in tree.values():
                self.problems.shapes.append(
                    f"{leaf.shown()} -> {target.to}: axis {target.unstack} cannot be spread"
                )
            return
        for index in range(sizes.pop() or 0):
            part = {path: sliced(leaf, target.unstack, index) for path, leaf in tree.items()}
            parts = target.pattern.written({**found.bindings, free: str(index)})
            try:
                yield part, resolve(slot, parts)
            except NowhereError as error:
                for leaf in part.values():
                    self._extra(leaf, f"{'.'.join(parts)}: {error}")

    def _at_value(self, found: Found, tree: Tree, slot: Slot, entry: str) -> None:
        """Place variables at a Variable or an array."""
        target = found.target
        assert target is not None
        collected = _collected(tree)
        if collected is None:
            for leaf in tree.values():
                self._extra(leaf, f"{entry} leads to {slot.path}, which has one value")
            return
        if target.changes_layout:
            try:
                collected = laid_out(collected, target)
            except (ValueError, TypeError) as error:
                first = f"{error}".partition("\n")[0]
                self.problems.shapes.append(f"{collected.shown()} -> {slot.path}: {first}")
                return
        self._add(collected, slot)

    # -- by equal names ---------------------------------------------------------------------------

    def _by_names(self, tree: Tree, slot: Slot) -> None:
        inside: dict[str, Tree] = defaultdict(dict)
        for path, leaf in tree.items():
            if len(path) < 2:
                self._extra(leaf, f"{slot.path} is a {type(slot.content).__name__}, no Variable")
            else:
                inside[path[1]][path[0], *path[2:]] = leaf
        for name, part in inside.items():
            try:
                child = step(slot, name)
            except NowhereError as error:
                for leaf in part.values():
                    self._extra(leaf, str(error))
                continue
            if not (is_variable(child.content) or is_array(child.content)):
                self.place(part, child)
                continue
            collected = _collected(part)
            if collected is not None:
                self._add(collected, child)
                continue
            for leaf in part.values():
                self._extra(leaf, f"{child.path} has one value")

    # -- what was found -----------------------------------------------------------------------------

    def _add(self, leaf: Leaf, slot: Slot) -> None:
        if is_variable(slot.content) or is_array(slot.content):
            self.placements.append(Placement(leaf.name, slot, leaf.value))
        elif _awaits_variable(slot, leaf):
            unmade = replace(slot, collection=leaf.name.partition("/")[0])
            self.placements.append(Placement(leaf.name, unmade, leaf.value))
        else:
            kind = type(slot.content).__name__
            self._extra(leaf, f"{slot.path} is a {kind}, neither a Variable nor an array")

    def _extra(self, leaf: Leaf, why: str) -> None:
        self.problems.extra.append(f"{leaf.shown()}: {why}")


def _awaits_variable(slot: Slot, leaf: Leaf) -> bool:
    """Whether calls make the Variable of a place: it is None, where data may be."""
    if slot.content is not None or not is_module(slot.holder):
        return False
    return not leaf.name.startswith("params/")


def _by_entry(
    tree: Tree, entries: Sequence[ClassMap], unmatched: Any
) -> dict[tuple[str, Path], tuple[Found, Tree]]:
    """Group variables by the entry that counts for them and the path that it covers.

    The paths in a group begin with the collection and go on behind what the entry covers.
    """
    groups: dict[tuple[str, Path], tuple[Found, Tree]] = {}
    for path, leaf in tree.items():
        found = matching(entries, path)
        if found is None:
            unmatched(path, leaf)
            continue
        key = (found.entry, path[: found.length])
        groups.setdefault(key, (found, {}))[1][path[0], *path[found.length :]] = leaf
    return groups


def _collected(tree: Tree) -> Leaf | None:
    """Return the variables as one value: an array, or nested dicts of them; None for neither."""
    if len(tree) == 1:
        ((path, leaf),) = tree.items()
        # A box with its metadata, as a checkpoint has it.
        if path[1:] in ((), ("value",)):
            return leaf
    value: dict[str, Any] = {}
    for path, leaf in tree.items():
        level = value
        for part in path[1:-1]:
            level = level.setdefault(part, {})
            if not isinstance(level, dict):
                return None
        if len(path) < 2 or path[-1] in level:
            return None
        level[path[-1]] = leaf.value
    name = next(iter(tree.values())).name
    depth = min(len(path) - 1 for path in tree)
    return Leaf("/".join(name.split("/")[: -depth or None]), value)
