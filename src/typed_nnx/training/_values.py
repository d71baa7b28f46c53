"""The values of trees of Variables, and values brought into the order of such a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from typed_nnx._core.filters import Filter, to_predicate
from typed_nnx._core.leaves import describe_leaf
from typed_nnx._core.nested import MixedLevel, Nested, flat_items
from typed_nnx._core.paths import Path
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_parts import store_value
from typed_nnx._errors.counts import counted
from typed_nnx._graph.gather import entries_of
from typed_nnx._graph.split_merge import state


def is_variable(value: object) -> bool:
    """Whether a value is a Variable; for ``is_leaf``."""
    return isinstance(value, Variable)


def value_of(leaf: Any) -> Any:
    """Return the raw value of a Variable, read from its reference if it has one."""
    if isinstance(leaf, Variable):
        box, meta = leaf._flat
        return box[0][...] if meta.ref else box[0]
    return leaf


def values_of(part: Any) -> Any:
    """Return a State, or a single leaf, with values in the places of its Variables."""
    return State._of(_values(part._mapping)) if isinstance(part, State) else value_of(part)


def _values(level: Nested) -> Nested:
    made = {
        key: _values(value) if isinstance(value, dict) else value_of(value)
        for key, value in level.items()
    }
    return made if type(level) is dict else MixedLevel(made)


def write_value(variable: Variable[Any], value: Any) -> None:
    """Replace the raw value of a Variable, which must belong to the current trace."""
    if variable._meta.ref:
        variable.get_raw_value()[...] = value
    else:
        store_value(variable, value)


def leaf_pairs(part: Any, values: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Yield the path of each leaf of a State, the leaf, and the value of the same place."""
    if isinstance(part, State | dict):
        for key, leaf in part.items():
            yield from leaf_pairs(leaf, values[key], (*path, key))
    else:
        yield path, part, values


class Mismatch(Exception):
    """Values do not lie where they are expected.

    Args:
        got: What was given, in words.
        missing: Paths without a value.
        extra: Paths with a value and no place for it.
    """

    def __init__(self, got: str, missing: list[Path], extra: list[Path]) -> None:
        super().__init__(got, missing, extra)
        self.got = got
        self.missing = missing
        self.extra = extra


def matched(wanted: Any, given: Any, chosen: Filter, graph: bool | None) -> Any:
    """Return the values of `given` at the places of `wanted`, as a State like `wanted`.

    Args:
        wanted: A State, or a single leaf.
        given: A State, a mapping or an object; of values or Variables.
        chosen: Which leaves of `given` count, if it has others than `wanted`.
        graph: False asserts that `given` is a tree.

    Raises:
        Mismatch: Leaves are missing or extra.
    """
    if not isinstance(wanted, State):
        return value_of(given)
    found = _at_places(wanted._mapping, entries_of(given))
    if found is None:
        if not isinstance(given, Pytree | Mapping | list):
            got = "None" if given is None else f"a {type(given).__name__}"
            raise Mismatch(got, [path for path, _ in flat_items(wanted)], [])
        entries = entries_of(state(given, chosen, graph=graph))
        found = _at_places(wanted._mapping, entries)
        if found is None:
            keeps = to_predicate(chosen)
            # Bare arrays are no Variables that a filter could choose, but they were meant to count.
            meant = state(
                given, lambda path, leaf: not is_variable(leaf) or keeps(path, leaf), graph=graph
            )
            raise _mismatch(wanted, given, entries_of(meant) or {})
    return State._of(found)


def _at_places(wanted: Nested, given: Any) -> Nested | None:
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


def _mismatch(wanted: State, given: Any, entries: Mapping[Any, Any]) -> Mismatch:
    places = [path for path, _ in flat_items(wanted._mapping)]
    found = [path for path, _ in flat_items(entries)]
    missing = [path for path in places if path not in set(found)]
    extra = [path for path in found if path not in set(places)]
    leaves = counted(len(found), "leaf", "leaves")
    return Mismatch(f"a {describe_leaf(given)} of {leaves}", missing, extra)
