"""The values of trees of Variables, and values brought into the order of such a tree."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Self, TypeAlias

import jax
from typing_extensions import TypeVar, dataclass_transform

from typed_nnx._core.filters import Filter, to_predicate
from typed_nnx._core.nested import MixedLevel, Nested, describe_leaf, flat_items
from typed_nnx._core.paths import Path
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable, store_value
from typed_nnx._graph.rebuild import entries_of
from typed_nnx._graph.split import state
from typed_nnx.errors import StateMismatchError
from typed_nnx.errors._base_error import counted

M = TypeVar("M", default=Any)

StateOf: TypeAlias = State[Any, Any, M, Any]
"""A State of a model of type M, or of a part of one."""

Tree: TypeAlias = Any
"""A pytree: a State, values in the places of its Variables, the state of a transformation, or a leaf."""


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
class FrozenPytree:
    """A base that makes each subclass a frozen dataclass and a pytree node.

    Fields are children for jax; one with ``metadata={"pytree_node": False}`` is static.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__()
        dataclasses.dataclass(frozen=True, **options)(cls)
        made: Any = cls  # a dataclass now
        fields = dataclasses.fields(made)
        static = [f.name for f in fields if not f.metadata.get("pytree_node", True)]
        names = [f.name for f in fields if f.name not in static]
        jax.tree_util.register_dataclass(cls, data_fields=names, meta_fields=static)

    def replace(self, **updates: Any) -> Self:
        """Return a copy with other values in some of its fields."""
        this: Any = self  # a dataclass
        copy: Self = dataclasses.replace(this, **updates)
        return copy


def is_variable(value: object) -> bool:
    return isinstance(value, Variable)


def value_of(leaf: Tree) -> Tree:
    """Return the raw value of a Variable, read from its reference if it has one."""
    if isinstance(leaf, Variable):
        box, meta = leaf._flat
        return box[0][...] if meta.ref else box[0]
    return leaf


def values_of(part: Tree) -> Tree:
    """Return a State, or a single leaf, with values in the places of its Variables."""
    return State._of(_values(part._mapping)) if isinstance(part, State) else value_of(part)


def _values(level: Nested) -> Nested:
    made = {
        key: _values(value) if isinstance(value, dict) else value_of(value)
        for key, value in level.items()
    }
    return made if type(level) is dict else MixedLevel(made)


def write_value(variable: Variable[Tree], value: Tree) -> None:
    """Replace the raw value of a Variable, which must belong to the current trace."""
    if variable._meta.ref:
        variable.get_raw_value()[...] = value
    else:
        store_value(variable, value)


def leaf_pairs(part: Tree, values: Tree, path: Path = ()) -> Iterator[tuple[Path, Tree, Tree]]:
    """Yield the path of each leaf of a State, the leaf, and the value of the same place."""
    if isinstance(part, State | dict):
        for key, leaf in part.items():
            yield from leaf_pairs(leaf, values[key], (*path, key))
    else:
        yield path, part, values


def matched(
    wanted: Tree,
    given: Tree,
    *,
    chosen: Filter = ...,
    graph: bool | None = None,
    where: str,
    expected: str,
    fix: str,
) -> Tree:
    """Return the values of `given` at the places of `wanted`, as a State like `wanted`.

    `wanted` is a State or a single leaf; `given` a State, a mapping or an object, of values or Variables, of
    which those that `chosen` keeps count, if it has others than `wanted`.

    Raises:
        StateMismatchError: They do not lie there; it says `where`, what was `expected`, and the `fix`.
    """

    def mismatch(got: str, missing: list[Path], extra: list[Path]) -> StateMismatchError:
        return StateMismatchError(where, f"{expected}; got {got}.", missing, extra, fix=fix)

    if not isinstance(wanted, State):
        return value_of(given)
    found = _at_places(wanted._mapping, entries_of(given))
    if found is None:
        if not isinstance(given, Pytree | Mapping | list):
            got = "None" if given is None else f"a {type(given).__name__}"
            raise mismatch(got, [path for path, _ in flat_items(wanted)], []) from None
        entries = entries_of(state(given, chosen, graph=graph))
        found = _at_places(wanted._mapping, entries)
        if found is None:
            keeps = to_predicate(chosen)
            # Bare arrays are no Variables that a filter could choose, but they were meant to count.
            meant = state(
                given, lambda path, leaf: not is_variable(leaf) or keeps(path, leaf), graph=graph
            )
            places = [path for path, _ in flat_items(wanted)]
            there = [path for path, _ in flat_items(entries_of(meant) or {})]
            missing = [path for path in places if path not in set(there)]
            extra = [path for path in there if path not in set(places)]
            leaves = counted(len(there), "leaf", "leaves")
            raise mismatch(f"a {describe_leaf(given)} of {leaves}", missing, extra) from None
    return State._of(found)


def _at_places(wanted: Nested, given: Tree) -> Nested | None:
    """Return the values at the places of `wanted`; None if there are others, or too few."""
    if given is None or wanted.keys() != given.keys():
        return None
    made: Nested = {}
    for key, leaf in wanted.items():
        value = given[key]
        if isinstance(leaf, dict):
            below = _at_places(leaf, value if isinstance(value, dict) else entries_of(value))
            if below is None:
                return None
            made[key] = below
        else:
            made[key] = value_of(value)
    return made if type(wanted) is dict else MixedLevel(made)
