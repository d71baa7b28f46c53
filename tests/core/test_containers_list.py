"""`nnx.List` against the built-in list, operation by operation, and as a node of a graph."""

from __future__ import annotations

import operator
import typing as tp

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.graph.oracle import outcome
from tests.support.peer import Scenario, assert_refused_as_in_flax, scenarios


class Leaf(nnx.Module):
    def __init__(self, name: str) -> None:
        self.w = nnx.Param(jnp.ones(()))
        self.name = name


POOL: list[tp.Any] = [0, 1, 2, Leaf("a"), Leaf("b"), Leaf("c")]


def rank(value: tp.Any) -> int:
    """The place of a value in the pool; lists and scalars that are no element come first."""
    return next((i for i, known in enumerate(POOL) if known is value), -1)


class Arguments(tp.NamedTuple):
    """What an operation may use."""

    value: tp.Any
    values: list[tp.Any]
    at: int
    part: slice
    times: int


indices = st.integers(-7, 7)
arguments = st.builds(
    Arguments,
    st.sampled_from(POOL),
    st.lists(st.sampled_from(POOL), max_size=4),
    indices,
    st.builds(
        slice,
        st.none() | indices,
        st.none() | indices,
        st.none() | st.integers(-3, 3),  # 0 is an error for both
    ),
    st.integers(-1, 2),
)


def put(items: tp.Any, a: Arguments) -> None:
    # The status of an element stays when it is replaced, so a number stands for a number.
    if -len(items) <= a.at < len(items) and isinstance(items[a.at], int):
        items[a.at] = a.at
    elif -len(items) <= a.at < len(items):
        items[a.at] = POOL[-1]
    else:
        items[a.at] = a.value


def delete(items: tp.Any, key: tp.Any) -> None:
    del items[key]


def change_in_place(
    change: tp.Callable[[tp.Any, tp.Any], tp.Any], items: tp.Any, other: tp.Any
) -> None:
    assert change(items, other) is items


OPERATIONS: dict[str, tp.Callable[[tp.Any, Arguments], tp.Any]] = {
    "append": lambda items, a: items.append(a.value),
    "extend": lambda items, a: items.extend(a.values),
    "extend with an iterator": lambda items, a: items.extend(iter(a.values)),
    "extend with itself": lambda items, a: items.extend(items),
    "insert": lambda items, a: items.insert(a.at, a.value),
    "pop": lambda items, a: items.pop(),
    "pop at": lambda items, a: items.pop(a.at),
    "remove": lambda items, a: items.remove(a.value),
    "index": lambda items, a: items.index(a.value),
    "index from": lambda items, a: items.index(a.value, a.at),
    "count": lambda items, a: items.count(a.value),
    "contains": lambda items, a: a.value in items,
    "get": lambda items, a: items[a.at],
    "get slice": lambda items, a: items[a.part],
    "put": put,
    "put slice": lambda items, a: operator.setitem(items, a.part, a.values),
    "put slice from an iterator": lambda items, a: operator.setitem(items, a.part, iter(a.values)),
    "put itself": lambda items, a: operator.setitem(items, a.part, items),
    "delete": lambda items, a: delete(items, a.at),
    "delete slice": lambda items, a: delete(items, a.part),
    "reverse": lambda items, a: items.reverse(),
    "reversed": lambda items, a: list(reversed(items)),
    "clear": lambda items, a: items.clear(),
    "sort": lambda items, a: items.sort(key=rank),
    "sort backwards": lambda items, a: items.sort(key=rank, reverse=True),
    "add": lambda items, a: items + a.values,
    "add on the left": lambda items, a: a.values + items,
    "add a tuple": lambda items, a: items + tuple(a.values),
    "add in place": lambda items, a: change_in_place(operator.iadd, items, a.values),
    "multiply": lambda items, a: items * a.times,
    "multiply on the left": lambda items, a: a.times * items,
    "multiply in place": lambda items, a: change_in_place(operator.imul, items, a.times),
    "copy": lambda items, a: items.copy(),
    "iterate": lambda items, a: list(iter(items)),
    "compare": lambda items, a: items == a.values,
    "differ": lambda items, a: items != a.values,
    "text index": lambda items, a: items["0"],
}

steps = st.lists(st.tuples(st.sampled_from(sorted(OPERATIONS)), arguments), max_size=12)


def same_elements(left: tp.Any, right: tp.Any) -> bool:
    """Whether two results of list operations are the same, elements compared by identity."""
    if isinstance(left, nnx.List | list) and isinstance(right, nnx.List | list):
        return len(left) == len(right) and all(map(operator.is_, left, right))
    return left is right or bool(left == right)


def expected_paths(model: list[tp.Any]) -> list[tp.Any]:
    """The paths of the State: each Module where it comes first."""
    first = [x for i, x in enumerate(model) if not any(x is before for before in model[:i])]
    return [(operator.indexOf(map(id, model), id(x)), "w") for x in first if isinstance(x, Leaf)]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(POOL), max_size=6), steps)
def test_every_sequence_of_operations_does_what_it_does_to_a_list(
    start: list[tp.Any], chosen: list[tuple[str, Arguments]]
) -> None:
    model, items = list(start), nnx.List(start)
    for name, a in chosen:
        if len(model) > 16:
            model.clear()
            items.clear()
        expected = outcome(lambda: OPERATIONS[name](model, a))  # noqa: B023 -- called at once
        actual = outcome(lambda: OPERATIONS[name](items, a))  # noqa: B023 -- called at once
        assert actual[0] == expected[0], (name, a, expected, actual)
        assert same_elements(actual[1], expected[1]), (name, a, expected, actual)
        assert same_elements(items, model), (name, a)
        assert len(items) == len(model)
        assert list(nnx.to_flat_state(nnx.state(items)).paths) == expected_paths(model)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=5), st.data())
def test_elements_keep_their_status_wherever_they_move(
    marked: list[bool], draw: st.DataObject
) -> None:
    model = list(enumerate(marked))
    items = nnx.List([nnx.data(i) if is_data else i for i, is_data in model])
    moves: dict[str, tp.Callable[[tp.Any], tp.Any]] = {
        "reverse": lambda x: x.reverse(),
        "sort": lambda x: x.sort(key=lambda e: -(e[0] if isinstance(e, tuple) else e)),
        "insert": lambda x: x.insert(1, (9, False) if x is model else 9),
        "delete first": lambda x: delete(x, slice(0, 1)),
        "delete every second": lambda x: delete(x, slice(None, None, 2)),
        "double": lambda x: operator.imul(x, 2),
    }
    for name in draw.draw(st.lists(st.sampled_from(sorted(moves)), max_size=4)):
        moves[name](model), moves[name](items)
        expected = {i: value for i, (value, is_data) in enumerate(model) if is_data}
        assert nnx.to_pure_dict(nnx.state(items)) == expected
        assert nnx.to_pure_dict(nnx.state(items.copy())) == expected


def test_a_slice_is_a_built_in_list_and_results_of_operators_are_lists_of_ours() -> None:
    items = nnx.List([1, 2, 3])
    assert type(items[:2]) is list
    for made in (items + [4], [4] + items, items * 2, items.copy()):  # noqa: RUF005 -- under test
        assert type(made) is nnx.List
        assert made is not items


def test_an_index_out_of_bounds_names_index_and_length() -> None:
    with pytest.raises(IndexError, match="Index out of bounds: 3 in a List of 3 elements"):
        nnx.List([1, 2, 3])[3]


def test_a_list_is_compared_by_elements_and_hashed_by_identity() -> None:
    first, second = nnx.List([1, 2]), nnx.List([1, 2])
    assert first == second == [1, 2]
    assert len({first, second, first}) == 2


def test_a_list_takes_part_in_jax_trees_with_integer_keys() -> None:
    items = nnx.List([nnx.Param(jnp.ones(2)), 5, jnp.zeros(3)])
    entries, treedef = jax.tree_util.tree_flatten_with_path(items)
    assert [jax.tree_util.keystr(path) for path, _ in entries] == ["[0].value", "[2]"]
    rebuilt = jax.tree_util.tree_unflatten(treedef, [leaf + 1 for _, leaf in entries])
    assert type(rebuilt) is nnx.List
    assert rebuilt[1] == 5
    assert rebuilt[2].tolist() == [1, 1, 1]


def array_over_static(nnx: tp.Any) -> None:
    nnx.List([1])[0] = jnp.ones(())


def array_in_a_container(nnx: tp.Any) -> None:
    nnx.List([[jnp.ones(())]])


@scenarios(array_over_static, array_in_a_container)
def test_a_list_refuses_what_flax_refuses(scenario: Scenario) -> None:
    assert_refused_as_in_flax(scenario)
