"""The leaves of States, put in the order of a structure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typed_nnx._core.leaves import describe_leaf
from typed_nnx._core.nested import flat_items, nested_of
from typed_nnx._core.paths import Path
from typed_nnx._core.state import FlatState, State
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import GraphDef, VariableDef
from typed_nnx.errors import StateMismatchError

_MISSING: Any = type("_Missing", (), {"__slots__": ()})()


def entries_of(state: Any) -> Mapping[Any, Any] | None:
    """Return the nested mapping of a State in any of its forms, or None for a single leaf."""
    if isinstance(state, State):
        return state._mapping
    if isinstance(state, FlatState):
        return nested_of(state)
    return state if isinstance(state, Mapping) else None


def leaves_in_order(function: str, graphdef: GraphDef[Any], states: Sequence[Any]) -> list[Any]:
    """Return the leaves of `states` in the order of the structure; one list has them in that order.

    Raises:
        StateMismatchError: Leaves are missing, extra or of another Variable type.
    """
    layout = graphdef.layout
    found: list[Any] = [_MISSING] * len(layout.items)
    extra: list[Path] = []
    if len(states) == 1 and isinstance(states[0], list):
        extra = [(number,) for number in range(len(found), len(states[0]))]
        found[: len(states[0])] = states[0][: len(found)]
        states = ()
    for state in states:
        if type(layout.tree) is int:
            if isinstance(state, FlatState):
                found[:] = [leaf for _, leaf in state] or found
            elif not (isinstance(state, State) and not state):  # a filter that took nothing
                found[0] = state
            continue
        entries = entries_of(state)
        if entries is None:
            extra.append(())
        else:
            _collect(layout.tree, entries, (), found, extra)
    missing: list[Path] = []
    wrong: list[tuple[Path, str, str]] = []
    for number, (item, leaf) in enumerate(zip(layout.items, found, strict=True)):
        if leaf is _MISSING:
            missing.append(layout.paths[number])
        elif (
            type(item) is VariableDef
            and type(leaf) is not item.cls
            and isinstance(leaf, Variable)
            and not isinstance(leaf, item.cls)
        ):
            wrong.append((layout.paths[number], item.cls.__name__, describe_leaf(leaf)))
    if missing or extra or wrong:
        raise StateMismatchError(function, missing, extra, wrong)
    return found


def _collect(
    tree: Any, mapping: Mapping[Any, Any], path: Path, found: list[Any], extra: list[Path]
) -> None:
    for key, value in mapping.items():
        place = tree.get(key, _MISSING)
        if type(place) is int:
            found[place] = value
            continue
        entries = value if type(value) is dict else entries_of(value)
        if place is _MISSING or entries is None:
            here = (*path, key)
            extra.extend([here] if entries is None else [p for p, _ in flat_items(entries, here)])
        else:
            _collect(place, entries, (*path, key), found, extra)
