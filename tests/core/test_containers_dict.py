"""`nnx.Dict` against the built-in dict, operation by operation, and as a node of a graph."""

from __future__ import annotations

import operator
import typing as tp
from collections.abc import MutableMapping

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.graph.oracle import outcome
from tests.support.peer import Scenario, assert_as_in_flax, assert_refused_as_in_flax, scenarios


class Leaf(nnx.Module):
    def __init__(self) -> None:
        self.w = nnx.Param(jnp.ones(()))


NUMBERS = {"a": [0, 1], "z z": [2, 3], "10": [4, 5]}
MODULES = {"m": [Leaf(), Leaf()], "_n": [Leaf(), Leaf()]}
CHOICES: dict[str, list[tp.Any]] = {**NUMBERS, **MODULES}
"""What each key may hold: the status of an entry stays when it is replaced."""

entries = st.sampled_from(sorted(CHOICES)).flatmap(
    lambda key: st.tuples(st.just(key), st.sampled_from(CHOICES[key]))
)
mappings: st.SearchStrategy[dict[str, tp.Any]] = st.lists(entries, max_size=4).map(dict)


class Arguments(tp.NamedTuple):
    """What an operation may use."""

    key: str
    value: tp.Any
    other: dict[str, tp.Any]


arguments = st.tuples(entries, mappings).map(lambda x: Arguments(x[0][0], x[0][1], x[1]))


def delete(entries: tp.Any, key: tp.Any) -> None:
    del entries[key]


def change_in_place(entries: tp.Any, other: tp.Any) -> None:
    assert operator.ior(entries, other) is entries


OPERATIONS: dict[str, tp.Callable[[tp.Any, Arguments], tp.Any]] = {
    "put": lambda d, a: operator.setitem(d, a.key, a.value),
    "get item": lambda d, a: d[a.key],
    "get": lambda d, a: d.get(a.key),
    "get or": lambda d, a: d.get(a.key, 17),
    "delete": lambda d, a: delete(d, a.key),
    "pop": lambda d, a: d.pop(a.key),
    "pop or": lambda d, a: d.pop(a.key, 17),
    # The first entry, as of any mapping but the built-in one, and as in flax.
    "popitem": lambda d, a: MutableMapping.popitem(d) if type(d) is dict else d.popitem(),
    "reversed": lambda d, a: list(reversed(d)),
    "setdefault": lambda d, a: d.setdefault(a.key, a.value),
    "update": lambda d, a: d.update(a.other),
    "update with pairs": lambda d, a: d.update(list(a.other.items())),
    "update with keywords": lambda d, a: d.update(**a.other),
    "clear": lambda d, a: d.clear(),
    "contains": lambda d, a: a.key in d,
    "contains a number": lambda d, a: 1 in d,
    "get a number": lambda d, a: d[1],
    "iterate": lambda d, a: list(d),
    "keys": lambda d, a: list(d.keys()),
    "values": lambda d, a: list(d.values()),
    "items": lambda d, a: list(d.items()),
    "keys in common": lambda d, a: sorted(d.keys() & a.other.keys()),
    "compare": lambda d, a: d == a.other,
    "compare backwards": lambda d, a: a.other == d,
    "differ": lambda d, a: d != a.other,
    "or": lambda d, a: d | a.other,
    "or on the left": lambda d, a: a.other | d,
    "or in place": lambda d, a: change_in_place(d, a.other),
    "or in place with pairs": lambda d, a: change_in_place(d, list(a.other.items())),
    "or with a number": lambda d, a: d | 1,
    "copy": lambda d, a: d.copy(),
    "as keywords": lambda d, a: dict(**d),
}

steps = st.lists(st.tuples(st.sampled_from(sorted(OPERATIONS)), arguments), max_size=12)


def plain(result: tp.Any) -> tp.Any:
    """Return a result with ordered pairs for a mapping, so that order counts."""
    if isinstance(result, nnx.Dict | dict):
        return [(key, id(result[key])) for key in result]
    return result


def expected_paths(model: dict[str, tp.Any]) -> list[tp.Any]:
    """The paths of the State: the Modules by sorted key, each where it comes first."""
    return [(key, "w") for key in sorted(model) if key in MODULES]


@pytest.mark.thorough
@settings(max_examples=150, deadline=None)
@given(mappings, steps)
def test_every_sequence_of_operations_does_what_it_does_to_a_dict(
    start: dict[str, tp.Any], chosen: list[tuple[str, Arguments]]
) -> None:
    model, items = dict(start), nnx.Dict(start)
    for name, a in chosen:
        expected = outcome(lambda: plain(OPERATIONS[name](model, a)))  # noqa: B023 -- called at once
        actual = outcome(lambda: plain(OPERATIONS[name](items, a)))  # noqa: B023 -- called at once
        assert actual == expected, (name, a)
        assert plain(items) == plain(model), (name, a)
        assert len(items) == len(model)
        assert list(nnx.to_flat_state(nnx.state(items)).paths) == expected_paths(model)


def test_entries_are_attributes_too() -> None:
    items: tp.Any = nnx.Dict(a=1)
    items.b = 2
    items["c"] = 3
    assert (items.a, items["b"], items.c) == (1, 2, 3)
    del items.a
    assert list(items) == ["b", "c"]
    with pytest.raises(AttributeError, match="'Dict' object has no attribute 'a'"):
        items.a  # noqa: B018 -- under test


def test_results_of_operators_are_dicts_of_ours() -> None:
    items = nnx.Dict(a=1)
    for made in (items | {"b": 2}, {"b": 2} | items, items.copy()):
        assert type(made) is nnx.Dict
        assert made is not items
    assert {items, items.copy(), items} != {items}


def test_a_key_that_is_no_text_is_refused_and_named() -> None:
    items: tp.Any = nnx.Dict()
    with pytest.raises(TypeError, match="attribute name must be string") as caught:
        items[1] = 2
    assert "the key is 1 (int)" in str(caught.value)
    assert len(items) == 0


def test_entries_keep_their_status_when_they_are_replaced() -> None:
    items = nnx.Dict(a=nnx.data(1), b=2)
    items["a"] = 5
    assert nnx.to_pure_dict(nnx.state(items)) == {"a": 5}
    for made in (items.copy(), items | {"c": 1}, {"c": 1} | items):
        assert nnx.to_pure_dict(nnx.state(made)) == {"a": 5}


def test_a_dict_takes_part_in_jax_trees_with_sorted_attribute_keys() -> None:
    items: tp.Any = nnx.Dict({"b": nnx.Param(jnp.ones(2)), "n": 5, "a": jnp.zeros(3)})
    found, treedef = jax.tree_util.tree_flatten_with_path(items)
    assert [jax.tree_util.keystr(path) for path, _ in found] == [".a", ".b.value"]
    rebuilt = jax.tree_util.tree_unflatten(treedef, [leaf + 1 for _, leaf in found])
    assert type(rebuilt) is nnx.Dict
    assert rebuilt["n"] == 5
    assert rebuilt["a"].tolist() == [1, 1, 1]


def built(nnx: tp.Any) -> tp.Any:
    made = [nnx.Dict({"b": 1, "a": 2}), nnx.Dict([("b", 1), ("a", 2)]), nnx.Dict(b=1, a=2)]
    return [list(x.items()) for x in made], made[0] == made[1], made[0] == {"a": 2, "b": 1}


def number_as_key(nnx: tp.Any) -> tp.Any:
    return nnx.Dict({1: 2})


@scenarios(built)
def test_a_dict_does_what_it_does_in_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


@scenarios(number_as_key)
def test_a_dict_refuses_what_flax_refuses(scenario: Scenario) -> None:
    assert_refused_as_in_flax(scenario)
