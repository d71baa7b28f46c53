"""Prefixes: what a transform does with each part of an argument, down to single Variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeAlias

import jax
from jax.sharding import PartitionSpec
from typing_extensions import TypeVar

from typed_nnx._core.cells import static_key
from typed_nnx._core.filters import Filter, PathIn, Predicate, to_predicate
from typed_nnx._core.nested import describe_leaf, flat_items
from typed_nnx._core.nodes import GraphNode, TreeDef
from typed_nnx._core.paths import Node as Node
from typed_nnx._core.paths import Path, attribute_path, key_of_entry
from typed_nnx._core.paths import Tree as Tree
from typed_nnx._core.paths import Value as Value
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.settings import typed_as
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._graph.rebuild import entries_of
from typed_nnx._graph.split import hashable
from typed_nnx.errors import NoFilterMatchedError, PrefixError

if TYPE_CHECKING:
    from typed_nnx._transforms.engine import diff_state_overloads as overloads


N = TypeVar("N", default=Any)
F = TypeVar("F", default=Any)


class Carry:
    """Stands in ``in_axes`` and ``out_axes`` of `scan` for what is carried from step to step."""


FilterMap: TypeAlias = State | Mapping[Any, Any] | Iterable[tuple[Filter, Any]]
"""Filters and what is to be done with the Variables that they match; or a State of the latter."""


class ByFilter(Mapping[Any, Any]):
    """An ordered mapping from filters to prefixes; the first filter that matches counts."""

    __slots__ = ("_predicates", "filters", "values_in_order")

    def __init__(self, entries: FilterMap, /) -> None:
        if isinstance(entries, State):
            pairs: list[tuple[Any, Any]] = _by_value(flat_items(entries._mapping))
        elif isinstance(entries, Mapping):
            pairs = list(entries.items())
        else:
            pairs = list(entries)
        self.filters: tuple[Filter, ...] = tuple([key for key, _ in pairs])
        self.values_in_order: tuple[Any, ...] = tuple([value for _, value in pairs])
        self._predicates: tuple[Predicate, ...] | None = None  # filters are checked when used

    def group_of(self, function: str, path: Path, leaf: Any) -> int:
        """Return the number of the first filter that matches a leaf.

        Raises:
            NoFilterMatchedError: None does.
        """
        if self._predicates is None:
            self._predicates = tuple(map(to_predicate, self.filters))
        for number, predicate in enumerate(self._predicates):
            if predicate(path, leaf):
                return number
        raise NoFilterMatchedError(function, [(path, describe_leaf(leaf))])

    def map_prefix(self, path: Path, variable: Variable[Any]) -> Any:
        """Return what the first filter that matches a Variable says.

        Raises:
            NoFilterMatchedError: None does.
        """
        return self.values_in_order[
            self.group_of(f"{type(self).__name__}.map_prefix", path, variable)
        ]

    def __getitem__(self, key: Any) -> Any:
        for known, value in zip(self.filters, self.values_in_order, strict=True):
            if known is key or known == key:
                return value
        raise KeyError(key)  # as mappings do

    def __iter__(self) -> Iterator[Any]:
        return iter(self.filters)

    def __len__(self) -> int:
        return len(self.filters)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and (
            (self.filters, self.values_in_order) == (other.filters, other.values_in_order)
        )

    def __hash__(self) -> int:
        contents = static_key(hashable((self.filters, self.values_in_order)))
        return hash((type(self), contents))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({dict(zip(self.filters, self.values_in_order, strict=True))!r})"
        )


def _by_value(items: Iterable[tuple[Path, Any]]) -> list[tuple[PathIn, Any]]:
    """Return a filter for the paths of each value, so that there are as few as there are values."""
    paths: dict[Any, list[Path]] = {}
    for path, leaf in sorted(items, key=lambda item: list(map(str, item[0]))):
        value = leaf.get_raw_value() if isinstance(leaf, Variable) else leaf
        paths.setdefault((type(value), value), []).append(path)
    return [(PathIn(*found), value) for (_, value), found in paths.items()]


class StateAxes(ByFilter):
    """Axes by filter, for the Variables of a Module in ``in_axes`` and ``out_axes``.

    >>> StateAxes({Param: 0, ...: None})
    StateAxes({<class 'typed_nnx.Param'>: 0, Ellipsis: None})

    Takes a mapping (or pairs, or a State with an axis per Variable) from filters to an axis,
    None for broadcasting or, in `scan`, `Carry`.
    """

    __slots__ = ()

    @property
    def axes(self) -> tuple[Any, ...]:
        """The axes, in the order of the filters."""
        return self.values_in_order


class StateSharding(ByFilter):
    """Shardings by filter, for the Variables of a Module in ``in_shardings`` and ``out_shardings``.

    Takes a mapping (or pairs, or a State with a sharding per Variable) from filters to a
    ``Sharding``, a ``PartitionSpec`` or None.
    """

    __slots__ = ()

    @property
    def shardings(self) -> tuple[Any, ...]:
        """The shardings, in the order of the filters."""
        return self.values_in_order


class DiffState(Generic[N, F]):
    """Names the argument of `grad`, and which of its Variables to differentiate by.

    For type checkers its parameters are the position, a ``Literal``, and the type of the filter.

    Args:
        argnum: The position of the argument.
        filter: The filter of the Variables.
    """

    __slots__ = ("argnum", "filter")

    @typed_as(lambda: overloads.__init__)
    def __init__(self: DiffState[Any, Any], argnum: int, filter: Filter) -> None:  # noqa: A002 -- the public name
        self.argnum: int = argnum
        self.filter: Filter = filter

    def map_prefix(self, path: Path, variable: Variable[Any]) -> bool:
        """Whether the filter matches a Variable."""
        return to_predicate(self.filter)(path, variable)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DiffState)
            and self.argnum == other.argnum
            and self.filter == other.filter
        )

    def __hash__(self) -> int:
        return hash((DiffState, self.argnum, static_key(hashable(self.filter))))

    def __repr__(self) -> str:
        return f"DiffState(argnum={self.argnum!r}, filter={self.filter!r})"


class ByPath(ByFilter):
    """Prefixes by path: what a Module, State or tree with a prefix in each place stands for."""

    __slots__ = ()

    @classmethod
    def of(cls, node: Node) -> ByPath:
        """Build it from an object graph that has prefixes where the Variables are."""
        if isinstance(node, Variable):
            return cls([(..., node.get_raw_value())])
        entries = entries_of(node)
        if entries is not None:
            return cls(_by_value(flat_items(entries)))
        found, _ = jax.tree_util.tree_flatten_with_path(node, is_leaf=_ends_here)
        return cls(_by_value([(tuple(map(key_of_entry, keys)), leaf) for keys, leaf in found]))


def _ends_here(value: Any) -> bool:
    return value is None or isinstance(value, Variable)


Function: TypeAlias = Any
"""A callable of the user, or several in a tuple."""

Prefix: TypeAlias = Any
"""One prefix for a whole argument, a tree of them, or `StateAxes` and the like for a Module."""


def is_prefix_leaf(value: Any) -> bool:
    """Whether a value inside a prefix tree stands for all that is below it."""
    return value is None or isinstance(value, ByFilter | GraphNode | Variable)


def check_kinds(transform: str, option: str, prefix: Prefix, structural: bool) -> None:
    """Raise if a prefix is of a kind that the mode does not allow.

    Where structures may change it says by filter which Variables it is for, else in a tree like the
    argument.

    Raises:
        PrefixError: With the first such prefix.
    """
    for leaf in jax.tree.leaves(prefix, is_leaf=is_prefix_leaf):
        kind = type(leaf).__name__
        if isinstance(leaf, Variable):
            rule = f"Variables prefixes are not supported, here a {kind} in `{option}`"
            fix = "give the value that it holds"
        elif structural and isinstance(leaf, GraphNode):
            rule = (
                f"Graph nodes are not allowed as prefixes, here a {kind} in `{option}`, where "
                "structures may change"
            )
            fix = "give a filter for each group of Variables, such as nnx.StateAxes({nnx.Param: 0, ...: None})"
        elif not structural and isinstance(leaf, ByFilter | DiffState):
            rule = (
                f"`{option}` cannot contain `{kind}` objects when `graph=False` or "
                "`graph_updates=False`, since a prefix is then a tree like the argument"
            )
            fix = (
                "give the position alone"
                if isinstance(leaf, DiffState)
                else "give nnx.prefix(model, {nnx.Param: ..., ...: ...})"
            ) + ", or allow graph=True and graph_updates=True"
        else:
            continue
        raise PrefixError(transform, f"{rule}\n  Found: {leaf!r}", fix)


def by_filter(prefix: Prefix) -> ByFilter | None:
    """Return the prefixes by filter that a prefix of one Module stands for; None if one for all."""
    if isinstance(prefix, ByFilter):
        return prefix
    if isinstance(prefix, GraphNode | Variable | State):
        return ByPath.of(prefix)
    return None


def pure_prefix(prefix: Prefix) -> Prefix:
    """Return a prefix tree in the form that jax takes: one entry per group of Variables."""
    if not holds_filters(prefix):
        return prefix
    return jax.tree.map(
        lambda leaf: leaf if (found := by_filter(leaf)) is None else found.values_in_order,
        prefix,
        is_leaf=is_prefix_leaf,
    )


def holds_filters(prefix: Prefix) -> bool:
    """Whether some Module has different prefixes for its Variables."""
    if prefix is None or isinstance(prefix, int):
        return False
    leaves = jax.tree.leaves(prefix, is_leaf=is_prefix_leaf)
    return any(by_filter(leaf) is not None for leaf in leaves)


def broadcast(prefix: Prefix, treedef: TreeDef) -> list[Prefix]:
    """Return the prefix of each leaf of a tree."""
    full = jax.tree.unflatten(treedef, [_LEAF] * treedef.num_leaves)
    found: list[Prefix] = []

    def add(leaf: Prefix, below: Any) -> None:
        found.extend([leaf] * len(jax.tree.leaves(below)))

    jax.tree.map(add, prefix, full, is_leaf=is_prefix_leaf)
    return found


_LEAF = object()


_OPTIONS = {"jit": "shardings", "shard_map": "specs"}


def check_prefix(function: str, where: str, place: str, prefix: Prefix, value: Any) -> None:
    """Raise if a prefix is a nest of containers and the value another.

    What is in other pytrees is left to jax. `function` begins with the name of the transform,
    `where` is "in" or "out", and `place` says what the value is.

    Raises:
        PrefixError: With the first place that differs.
    """
    found = _mismatch(prefix, value, ())
    if found is not None:
        path, own, other = found
        option = f"{where}_{_OPTIONS.get(function.partition(' ')[0], 'axes')}"
        text = place + attribute_path(path)
        raise PrefixError(
            function,
            f"{option} must be a tree prefix of the values: the structure differs at {text}, where "
            f"{option} has {_describe(own)} and the value is {_describe(other)}.",
            "give one prefix for the whole value, or the same containers as in the value; inside an "
            "object, StateAxes or StateSharding",
        )


def _mismatch(prefix: Prefix, value: Any, path: Path) -> tuple[Path, Prefix, Any] | None:
    if type(prefix) not in (tuple, list, dict):
        return None
    if type(value) is not type(prefix) or len(value) != len(prefix):
        return path, prefix, value
    keys = prefix if type(prefix) is dict else range(len(prefix))
    for key in keys:
        if type(value) is dict and key not in value:
            return path, prefix, value
        found = _mismatch(prefix[key], value[key], (*path, key))
        if found is not None:
            return found
    return None


def _describe(value: Any) -> str:
    if type(value) is dict:
        return f"a dict with the keys {list(value)}"
    if type(value) in (tuple, list):
        return f"a {type(value).__name__} of {len(value)}"
    return describe_leaf(value) if isinstance(value, jax.Array) else type(value).__name__


class DataclassTree(Protocol):
    """A dataclass, which may be registered with jax."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


class ClassTree(Protocol):
    """An object of a class that is registered with ``jax.tree_util.register_pytree_node_class``."""

    def tree_flatten(self) -> tuple[Any, Any]:
        """Return children and static data."""
        ...


PrefixTree: TypeAlias = (
    tuple[Any, ...]
    | list[Any]
    | Mapping[Any, Any]
    | Pytree
    | Variable[Any]
    | DataclassTree
    | ClassTree
)
"""A tree of prefixes, or prefixes by filter; what is in it is not known to checkers."""

AxisPrefix: TypeAlias = int | PrefixTree | None
"""An axis, None for "no axis", or a tree of them."""

CarryPrefix: TypeAlias = AxisPrefix | type[Carry]
"""Axes and `Carry`."""

SpecPrefix: TypeAlias = PartitionSpec | PrefixTree | None
"""A spec, None for "whole on every device", or a tree of them."""
