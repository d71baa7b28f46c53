"""The keys of static values tell type and value apart."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from typed_nnx._core.cells import (
    content_key,
    first_unhashable,
    is_hashable,
    same_values,
    static_key,
)

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
values = st.recursive(
    scalars, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=5
)


class Pair(NamedTuple):
    a: Any
    b: Any


def typed(value: Any) -> Any:
    """Describe a value with the types of all its parts, independently of the keys."""
    if isinstance(value, frozenset):
        return type(value), frozenset(map(typed, value))
    if isinstance(value, tuple):
        return type(value), tuple(map(typed, value))
    return type(value), repr(value)


@settings(max_examples=60, deadline=None)
@given(values, values)
def test_keys_are_equal_exactly_for_equal_values_of_equal_types(left: Any, right: Any) -> None:
    assert (static_key(left) == static_key(right)) == (typed(left) == typed(right))
    if static_key(left) == static_key(right):
        assert hash(static_key(left)) == hash(static_key(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (2, 2.0),
        (1, True),
        (0, False),
        (1, 1.0),
        ((1,), (True,)),
        (((1,),), ((1.0,),)),
        (0.0, -0.0),
        (0.0, 1.0),
        (-0.0, -1.0),
        (0j, 1 + 1j),
        (0.0, 0),
        ("a", b"a"),
        ((1, 2), Pair(1, 2)),
        (frozenset({2}), frozenset({2.0})),
        (2, 2 + 0j),
        (None, "None"),
    ],
    ids=repr,
)
def test_values_that_python_may_call_equal_have_different_keys(left: Any, right: Any) -> None:
    assert static_key(left) != static_key(right)
    assert not same_values(left, right)


def test_nan_is_the_same_static_value_as_nan() -> None:
    assert static_key(float("nan")) == static_key(float("nan"))
    assert static_key((1, float("nan"))) == static_key((1, float("nan")))


@pytest.mark.parametrize("value", [[1], {"a": 1}, {1}, ([1],)], ids=repr)
def test_the_key_of_a_value_without_hash_has_none(value: Any) -> None:
    assert not is_hashable(value)
    with pytest.raises(TypeError):
        hash(static_key(value))


def test_values_without_a_hash_are_compared_part_by_part() -> None:
    assert same_values([1, {"a": (2, [3])}], [1, {"a": (2, [3])}])
    assert not same_values([1], [True])
    assert not same_values({"a": 1}, {"a": 1, "b": 2})
    assert not same_values({"a": 1}, {"b": 1})
    assert not same_values([1, 2], [1])


def test_arrays_are_the_same_only_if_they_are_one_object() -> None:
    for array in (np.ones(2), jnp.ones(2)):
        assert same_values(array, array)
        assert not same_values(array, array + 1)


def test_the_first_value_without_a_hash_is_found() -> None:
    nothing = bytearray()
    assert first_unhashable([("a", [1]), ("b", [nothing]), ("c", nothing)]) == ("b", [nothing])
    assert first_unhashable([("a", 1), ("b", {"c": {2}})]) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1], [True]),
        ([1], (1,)),
        ({1}, [1]),
        ({1}, frozenset({1})),
        ({"a": 1}, {"a": 1.0}),
        ([], {}),
    ],
    ids=repr,
)
def test_contents_differ_by_type_too(one: Any, other: Any) -> None:
    assert content_key(one) != content_key(other)
    assert content_key(one) == content_key(copy.deepcopy(one))


def test_the_order_of_a_dict_does_not_count_in_its_content() -> None:
    assert content_key({"a": [1], "b": 2}) == content_key({"b": 2, "a": [1]})
