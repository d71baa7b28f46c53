"""What is static about one call of a transformed function, and about what came out of a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import jax

from typed_nnx._core.paths import Path
from typed_nnx._graph.graphdef import GraphDef, VariableDef
from typed_nnx._transforms.prefixes import ByFilter, Prefix

Groups: TypeAlias = tuple[int, ...] | None
"""The group of each leaf of a Module; None if it has one prefix, and so one group, for all."""


class Part:
    """One object among the arguments: its structure, and how its values are grouped.

    Attributes:
        graphdef: The structure. Its positions count on from those of the objects before it if some
            of them share objects, else from 0.
        groups: The group of each leaf.
        offset: The number of its first item among the items of all parts.
        kept: All its values are returned, not only those that change.
        filters: Decides the groups; None if there is one.
        prefix: The prefix of the object.
        path: Where it is among the arguments.
    """

    __slots__ = ("filters", "graphdef", "groups", "kept", "offset", "path", "prefix")

    def __init__(
        self,
        graphdef: GraphDef[Any],
        groups: Groups,
        filters: ByFilter | None,
        offset: int,
        kept: bool,
        prefix: Prefix,
        path: Path,
    ) -> None:
        self.prefix: Prefix = prefix
        self.path: Path = path
        self.graphdef: GraphDef[Any] = graphdef
        self.groups: Groups = groups
        self.filters: ByFilter | None = filters
        self.offset: int = offset
        self.kept: bool = kept

    @property
    def key(self) -> Any:
        """What tells it from others."""
        return (self.graphdef.token, self.groups, self.kept)

    def leaf_positions(self) -> list[int]:
        """Return the position of each leaf, counted from the root."""
        return leaf_positions(self.graphdef)


def leaf_positions(graphdef: GraphDef[Any]) -> list[int]:
    """Return the position of each leaf of a structure, counted from the root."""
    return [
        position
        for position, item in enumerate(graphdef.items)
        if type(item) is VariableDef or isinstance(item, str)
    ]


def in_groups(filters: ByFilter | None, groups: Sequence[int], values: list[Any]) -> Any:
    """Return values as jax gets them: a list, or with filters a list for each of them."""
    if filters is None:
        return values
    made: tuple[list[Any], ...] = tuple([[] for _ in filters])
    for group, value in zip(groups, values, strict=True):
        made[group].append(value)
    return made


def in_order(groups: Groups, pure: Any) -> list[Any]:
    """Return the values in order again."""
    if groups is None:
        return list(pure)
    following = [iter(group).__next__ for group in pure]
    return [following[group]() for group in groups]


class Repeated:
    """An object among the arguments that is, or is inside, one before it.

    Attributes:
        number: Its number among the items of all parts.
        filters: Those of its prefix, so that what stands for it fits; None if there is one prefix.
    """

    __slots__ = ("filters", "number")

    def __init__(self, number: int, filters: ByFilter | None) -> None:
        self.number: int = number
        self.filters: ByFilter | None = filters

    def nothing(self) -> Any:
        """Return what stands for it among the plain values."""
        return in_groups(self.filters, (), [])

    @property
    def key(self) -> Any:
        """What tells it from others."""
        return self.number


class Argument:
    """What is static about one argument that holds objects.

    Attributes:
        treedef: The structure with an object as a leaf.
        parts: For each leaf its part, or None where it is a plain value.
    """

    __slots__ = ("parts", "treedef")

    def __init__(self, treedef: Any, parts: tuple[Part | Repeated | None, ...]) -> None:
        self.treedef: Any = treedef
        self.parts: tuple[Part | Repeated | None, ...] = parts

    def pairs(self, tree: Any) -> Iterator[tuple[Part | Repeated | None, Any]]:
        """Yield the part of each leaf, with what is in its place in a tree like the argument."""
        return zip(self.parts, self.treedef.flatten_up_to(tree), strict=True)

    def map(self, function: Callable[[Part | Repeated, Any], Any], tree: Any) -> Any:
        """Return a tree like the argument with something else in the place of each object.

        Args:
            function: Makes it of the part and of what is in its place in `tree`.
            tree: A tree like the argument.
        """
        return self.treedef.unflatten(
            [leaf if part is None else function(part, leaf) for part, leaf in self.pairs(tree)]
        )

    @property
    def key(self) -> Any:
        """What tells it from others."""
        return (self.treedef, tuple([None if part is None else part.key for part in self.parts]))


class Signature:
    """What is static about one call: two calls with the same one can share a trace.

    Attributes:
        arguments: What is static about each positional argument; None if it holds no object.
        keywords: The same by name, of the keyword arguments that hold objects.
        captured: The same of what the function closes over.
        parts: All parts, in order.
        modes: Whether trees are asserted, and whether the structure may change.
    """

    __slots__ = ("__weakref__", "arguments", "captured", "keywords", "modes", "parts")

    def __init__(
        self,
        arguments: tuple[Argument | None, ...],
        keywords: dict[str, Argument],
        captured: tuple[Argument, ...],
        modes: tuple[bool, bool],
    ) -> None:
        self.arguments: tuple[Argument | None, ...] = arguments
        self.keywords: dict[str, Argument] = keywords
        self.captured: tuple[Argument, ...] = captured
        self.modes: tuple[bool, bool] = modes
        self.parts: list[Part] = [
            part
            for argument in (*arguments, *keywords.values(), *captured)
            if argument is not None
            for part in argument.parts
            if type(part) is Part
        ]

    @property
    def key(self) -> Any:
        """What tells it from others."""
        return (
            tuple([None if argument is None else argument.key for argument in self.arguments]),
            tuple([(name, argument.key) for name, argument in self.keywords.items()]),
            tuple([argument.key for argument in self.captured]),
            self.modes,
        )


# Where a leaf of a new structure comes from: the number of a value that the trace returned, the
# (part, leaf) of the arguments with that value, or None for a Variable that is there already.
Source: TypeAlias = int | tuple[int, int] | None


class Grown:
    """The structure of an object after a trace.

    Attributes:
        graphdef: The structure; `outer` gives the number of each item that came from outside.
        sources: Where the value of each leaf comes from.
        groups: The group of each value that the trace returned, those of `detached` included.
        count: The number of these values.
        detached: The structures of objects that came with this one and are not reached any more.
    """

    __slots__ = ("count", "detached", "graphdef", "groups", "sources")

    def __init__(
        self,
        graphdef: GraphDef[Any],
        sources: tuple[Source, ...],
        groups: Groups,
        count: int,
        detached: tuple[Grown, ...] = (),
    ) -> None:
        self.graphdef: GraphDef[Any] = graphdef
        self.sources: tuple[Source, ...] = sources
        self.groups: Groups = groups
        self.count: int = count
        self.detached: tuple[Grown, ...] = detached

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grown) and (
            (self.sources, self.groups, self.detached)
            == (other.sources, other.groups, other.detached)
            and self.graphdef == other.graphdef
        )

    def __hash__(self) -> int:
        return hash((len(self.graphdef.items), self.sources))


class Effects:
    """What a trace found: which values changed, which structures, what came out.

    Attributes:
        changed: For each part the leaves whose values were returned.
        grown: For each part its new structure, None if it is as it was; empty if all are.
        bases: The position of the first item of each part in the new structures.
        treedef: The structure of the result with an object as a leaf; None if it holds none.
        results: For each leaf of the result its structure, None where it is a plain value.
        is_only_values: No structure changed and the result holds no object.
        is_nothing: Nothing changed and the result holds no object.
    """

    __slots__ = (
        "_hash",
        "bases",
        "changed",
        "grown",
        "is_nothing",
        "is_only_values",
        "results",
        "treedef",
    )  # fmt: skip

    def __init__(
        self,
        changed: tuple[tuple[int, ...], ...],
        grown: tuple[Grown | None, ...],
        bases: tuple[int, ...],
        treedef: Any,
        results: tuple[Grown | None, ...],
    ) -> None:
        self.changed: tuple[tuple[int, ...], ...] = changed
        self.grown: tuple[Grown | None, ...] = grown
        self.bases: tuple[int, ...] = bases
        self.treedef: Any = treedef
        self.results: tuple[Grown | None, ...] = results
        self._hash: int | None = None
        self.is_only_values: bool = treedef is None and not grown
        self.is_nothing: bool = self.is_only_values and not any(changed)

    def grown_of(self, number: int) -> Grown | None:
        """Return the new structure of a part; None if it is as it was."""
        return self.grown[number] if self.grown else None

    def groups_of(self, number: int, part: Part) -> Groups:
        """Return the group of each value that was returned for a part: changed leaves, then new ones."""
        if part.groups is None:
            return None
        grown = self.grown_of(number)
        new = None if grown is None else grown.groups
        return (*[part.groups[leaf] for leaf in self.changed[number]], *(new or ()))

    def _parts(self) -> Any:
        return (self.changed, self.grown, self.bases, self.treedef, self.results)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Effects) and self._parts() == other._parts()

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.changed, self.bases, len(self.results)))
        return self._hash


class Static:
    """Carries a static value out of a trace, as a pytree without leaves."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Any = value


jax.tree_util.register_pytree_node(
    Static, lambda static: ((), static.value), lambda value, _: Static(value)
)
