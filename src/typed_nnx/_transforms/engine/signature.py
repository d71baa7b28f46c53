"""What is static about one call of a transformed function, and about what a trace of it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, TypeVar

import jax

from typed_nnx._core.nodes import TreeDef
from typed_nnx._core.paths import Path, key_of_entry
from typed_nnx._graph.graphdef import GraphDef, Item, VariableDef
from typed_nnx._graph.rebuild import rebuild
from typed_nnx._transforms.engine.prefixes import ByFilter, Node, Prefix, Tree, Value, pure_prefix

T = TypeVar("T")

Pure: TypeAlias = tuple[Sequence[Tree], Mapping[str, Tree], Sequence[Tree]]
"""The plain values of a call: of positional and keyword arguments, and of what the function closes over."""

Divided: TypeAlias = list[T] | tuple[list[T], ...]
"""The values of an object as jax takes them: a list, or a list for each filter of the prefix."""


@dataclass(slots=True, eq=False, repr=False)
class Groups:
    """How the values of an object are divided, so that jax finds one prefix for each list.

    Attributes:
        prefix: The prefix of the object.
        filters: The filters of the prefix; None if it has none, and all values are in one list.
        numbers: For each value the number of its filter; empty without filters.
    """

    prefix: Prefix
    filters: ByFilter | None
    numbers: tuple[int, ...] = ()

    def of(self, values: Iterable[int]) -> Groups:
        """Return the groups of some of the values, given by their numbers."""
        if self.filters is None:
            return self
        return Groups(self.prefix, self.filters, tuple([self.numbers[value] for value in values]))

    def prefix_of(self, value: int) -> Prefix:
        """Return the prefix of a value, given its number."""
        if self.filters is None:
            return self.prefix
        return self.filters.values_in_order[self.numbers[value]]

    def divide(self, values: list[T]) -> Divided[T]:
        """Return values as jax takes them."""
        if self.filters is None:
            return values
        lists: tuple[list[T], ...] = tuple([[] for _ in self.filters.values_in_order])
        for number, value in zip(self.numbers, values, strict=True):
            lists[number].append(value)
        return lists

    def join(self, divided: Divided[T]) -> list[T]:
        """Undo `divide`."""
        if isinstance(divided, list):
            return list(divided)
        following = [iter(group).__next__ for group in divided]
        return [following[number]() for number in self.numbers]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Groups) and (
            (self.filters is None, self.numbers) == (other.filters is None, other.numbers)
        )

    def __hash__(self) -> int:
        return hash(self.numbers)


@dataclass(slots=True, eq=False, repr=False)
class Part:
    """One object among the arguments: its structure, and how its values are grouped.

    Attributes:
        graphdef: The structure. Its positions count on from those of the objects before it if some
            of them share objects, else from 0.
        groups: How the values of its leaves are divided.
        offset: The number of its first item among the items of all parts.
        kept: All its values are returned, not only those that change.
        path: Where it is among the arguments.
    """

    graphdef: GraphDef
    groups: Groups
    offset: int
    kept: bool
    path: Path

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from others."""
        return (self.graphdef.token, self.groups, self.kept)

    def leaf_positions(self) -> list[int]:
        """Return the position of each leaf, counted from the root."""
        return leaf_positions(self.graphdef)


def leaf_positions(graphdef: GraphDef) -> list[int]:
    """Return the position of each leaf of a structure, counted from the root."""
    return [
        position
        for position, item in enumerate(graphdef.items)
        if type(item) is VariableDef or isinstance(item, str)
    ]


def leaf_of(item: Item, value: Value) -> Value:
    """Return a leaf; a Variable is made here, since what is no value cannot become a reference."""
    return item.cls._make(value, item.meta) if isinstance(item, VariableDef) else value


def build_part(
    part: Part, leaves: Sequence[Value], objects: dict[int, Node]
) -> tuple[Node, dict[int, Node]]:
    """Build the object of a part; return it, and the objects in it by position.

    They are added to `objects`, those of all parts by their numbers.
    """
    if part.graphdef.base > 0:  # it may share some with the parts before
        return rebuild(part.graphdef, leaves, objects), objects
    made: dict[int, Node] = {}
    root = rebuild(part.graphdef, leaves, made)
    objects.update({position + part.offset: found for position, found in made.items()})
    return root, made


@dataclass(slots=True, eq=False, repr=False)
class Alias:
    """An object among the arguments that is, or is part of, one before it.

    Attributes:
        number: Its number among the items of all parts.
        groups: Those of its prefix, so that what is in its place fits.
    """

    number: int
    groups: Groups

    def empty(self) -> Divided[Value]:
        """Return what is in its place among the plain values."""
        return self.groups.divide([])

    @property
    def key(self) -> int:
        """What tells it from others."""
        return self.number


@dataclass(slots=True, eq=False, repr=False)
class Argument:
    """What is static about one argument that holds objects.

    Attributes:
        treedef: The structure with an object as a leaf.
        parts: For each leaf its part, or None where it is a plain value.
    """

    treedef: TreeDef
    parts: tuple[Part | Alias | None, ...]

    def pairs(self, tree: Tree) -> Iterator[tuple[Part | Alias | None, Tree]]:
        """Yield the part of each leaf, with what is in its place in a tree like the argument."""
        return zip(self.parts, self.treedef.flatten_up_to(tree), strict=True)

    def map(self, function: Callable[[Part | Alias, Tree], object], tree: Tree) -> Tree:
        """Return a tree like the argument with something else in place of each object."""
        return self.treedef.unflatten(
            [leaf if part is None else function(part, leaf) for part, leaf in self.pairs(tree)]
        )

    def build(self, function: Callable[[Part | Alias], object]) -> Tree:
        """Return a tree like the argument with what a function makes of each part, and None for values."""
        return self.treedef.unflatten(
            [None if part is None else function(part) for part in self.parts]
        )

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from others."""
        return (self.treedef, tuple([None if part is None else part.key for part in self.parts]))


@dataclass(slots=True, weakref_slot=True, eq=False, repr=False)
class Signature:
    """What is static about one call: two calls with the same one can share a trace.

    Attributes:
        arguments: What is static about each positional argument; None if it holds no object.
        keywords: The same by name, of the keyword arguments that hold objects.
        captured: The same of what the function closes over.
        parts: All parts, in order.
        modes: Whether object graphs are allowed, and whether the structure may change.
    """

    arguments: tuple[Argument | None, ...]
    keywords: dict[str, Argument]
    captured: tuple[Argument, ...]
    modes: tuple[bool, bool]
    parts: list[Part] = field(init=False)

    def __post_init__(self) -> None:
        self.parts = [
            part
            for argument in (*self.arguments, *self.keywords.values(), *self.captured)
            if argument is not None
            for part in argument.parts
            if type(part) is Part
        ]

    def map(
        self, function: Callable[[Part | Alias, Tree], object], *pure: *Pure
    ) -> tuple[list[Tree], dict[str, Tree], list[Tree]]:
        """Return the values of a call with something else in place of each object; see `Argument.map`."""
        args, kwargs, captured = pure
        positional = [
            value if argument is None else argument.map(function, value)
            for argument, value in zip(self.arguments, args, strict=True)
        ]
        named = {name: each.map(function, kwargs[name]) for name, each in self.keywords.items()}
        closed = [
            argument.map(function, value)
            for argument, value in zip(self.captured, captured, strict=True)
        ]
        return positional, {**kwargs, **named}, closed

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from others."""
        return (
            tuple([None if argument is None else argument.key for argument in self.arguments]),
            tuple([(name, argument.key) for name, argument in self.keywords.items()]),
            tuple([argument.key for argument in self.captured]),
            self.modes,
        )

    def values_in(self, args: Sequence[Tree], captured: Sequence[Tree]) -> list[Divided[Value]]:
        """Return the values of each part, given plain positional arguments and captured objects."""
        arguments = zip((*self.arguments, *self.captured), (*args, *captured), strict=True)
        return [
            values
            for argument, pure in arguments
            if argument is not None
            for part, values in argument.pairs(pure)
            if isinstance(part, Part)
        ]

    def with_values(
        self, args: Sequence[Tree], values: Sequence[Divided[Value]]
    ) -> tuple[list[Tree], tuple[Tree, ...]]:
        """Return positional arguments with other values of each part, and captured objects likewise."""
        by_part = dict(zip(map(id, self.parts), values, strict=True))

        def pure(part: Part | Alias, _: Tree) -> Divided[Value]:
            return part.empty() if isinstance(part, Alias) else by_part[id(part)]

        positional, _, closed = self.map(pure, args, {}, [None] * len(self.captured))
        return positional, tuple(closed)


# Where a leaf of a new structure comes from: the number of a value that the trace returned, the
# (part, leaf) of the arguments with that value, or None for a Variable that is there already.
Source: TypeAlias = int | tuple[int, int] | None


@dataclass(slots=True, repr=False)
class Structure:
    """The structure of an object after a trace.

    Attributes:
        graphdef: The structure; `outer` gives the number of each item that came from outside.
        sources: Where the value of each leaf comes from.
        groups: How the values that the trace returned for it, and for `detached`, are divided.
        count: The number of these values.
        detached: The structures of objects that came with this one and are no longer reached.
    """

    graphdef: GraphDef
    sources: tuple[Source, ...]
    groups: Groups
    count: int
    detached: tuple[Structure, ...] = ()

    def new_leaves(self) -> Iterator[tuple[Path, int]]:
        """Yield the path of each leaf whose value the trace returned, and the number of the value."""
        for path, source in zip(self.graphdef.layout.paths, self.sources, strict=True):
            if isinstance(source, int):
                yield path, source

    def __hash__(self) -> int:
        return hash((len(self.graphdef.items), self.sources))


@dataclass(slots=True, repr=False)
class Effects:
    """What a trace did: which values changed, which structures, and the structure of the result.

    Attributes:
        changed: For each part the leaves whose values were returned.
        structures: For each part its new structure, None if it is as it was; empty if all are.
        bases: The position of the first item of each part in the new structures.
        treedef: The structure of the result with an object as a leaf; None if it holds none.
        results: For each leaf of the result its structure, None where it is a plain value.
        is_only_values: No structure changed and the result holds no object.
        is_nothing: Nothing changed and the result holds no object.
    """

    changed: tuple[tuple[int, ...], ...]
    structures: tuple[Structure | None, ...]
    bases: tuple[int, ...]
    treedef: TreeDef | None
    results: tuple[Structure | None, ...]
    is_only_values: bool = field(init=False, compare=False)
    is_nothing: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        self.is_only_values = self.treedef is None and not self.structures
        self.is_nothing = self.is_only_values and not any(self.changed)

    def structure_of(self, number: int) -> Structure | None:
        """Return the new structure of a part; None if it is as it was."""
        return self.structures[number] if self.structures else None

    def groups_of(self, number: int, part: Part) -> Groups:
        """Return how the values of a part are divided: those of changed leaves, then new ones."""
        changed, structure = part.groups.of(self.changed[number]), self.structure_of(number)
        if structure is None or changed.filters is None:
            return changed
        numbers = (*changed.numbers, *structure.groups.numbers)
        return Groups(changed.prefix, changed.filters, numbers)

    def __hash__(self) -> int:
        return hash((self.changed, self.bases, len(self.results)))


# It leaves a trace as a pytree without leaves.
jax.tree_util.register_static(Effects)


class TraceResult(NamedTuple):
    """What a trace returns to jax.

    Attributes:
        updates: For each part the values that changed, divided like the part, then new ones.
        result: The result of the user's function, with values in place of objects.
        effects: What the trace did.
    """

    updates: tuple[Divided[Value], ...]
    result: Tree
    effects: Effects

    def values_of(self, number: int, part: Part) -> list[Value]:
        """Return the values of a part in order: those of leaves that changed, then new ones."""
        return self.effects.groups_of(number, part).join(self.updates[number])

    def changes(self, number: int, part: Part) -> Iterator[tuple[int, Value]]:
        """Yield each leaf of a part that changed, with its new value."""
        return zip(self.effects.changed[number], self.values_of(number, part), strict=False)

    @property
    def treedef(self) -> TreeDef:
        """The structure of the result with an object as a leaf."""
        known = self.effects.treedef
        return jax.tree.structure(self.result) if known is None else known

    def entries(self) -> list[tuple[Path, Structure | None, Tree]]:
        """Return path, structure and values of each object in the result; of a value no structure."""
        treedef = self.treedef
        keys = jax.tree_util.tree_leaves_with_path(treedef.unflatten(range(treedef.num_leaves)))
        paths = [tuple(map(key_of_entry, path)) for path, _ in keys]
        structures = self.effects.results or [None] * len(paths)
        return list(zip(paths, structures, treedef.flatten_up_to(self.result), strict=True))


def result_prefix(parts: Sequence[Part], outs: Prefix) -> TraceResult:
    """Return the prefixes of what a trace returns, as jax takes them; values come back as they went in."""
    effects: Prefix = None
    return TraceResult(
        tuple([pure_prefix(part.groups.prefix) for part in parts]), pure_prefix(outs), effects
    )
