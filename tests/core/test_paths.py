"""The order of keys, and paths as text."""

from __future__ import annotations

import random
import typing as tp

import jax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from typed_nnx._core.paths import attribute_path, key_of_entry, path_order, sorted_keys

keys: st.SearchStrategy[tp.Any] = (
    st.integers(-20, 20) | st.text(max_size=3) | st.booleans() | st.none()
)


@settings(max_examples=100, deadline=None)
@given(st.lists(keys, max_size=6), st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_where_the_keys_came_from(
    found: list[tp.Any], rng: random.Random
) -> None:
    unique = list({repr(k): k for k in found}.values())
    shuffled = unique.copy()
    rng.shuffle(shuffled)
    if {True} <= {*unique} or {False} <= {*unique}:
        return  # a dict cannot hold both
    assert sorted_keys(shuffled) == sorted_keys(unique)


def test_numbers_come_before_texts_and_are_in_numeric_order() -> None:
    assert sorted_keys(["b", 10, "a", 2, "10"]) == [2, 10, "10", "a", "b"]
    assert sorted([("b",), (10, "x"), (2,), ()], key=path_order) == [(), (2,), (10, "x"), ("b",)]


PATHS: dict[str, tuple[tuple[tp.Any, ...], str]] = {
    "attributes": (("layers", "kernel"), ".layers.kernel"),
    "index": (("layers", 0, "w"), ".layers[0].w"),
    "text that is no name": (("a b",), "['a b']"),
    "root": ((), ""),
}


@pytest.mark.parametrize(("path", "text"), PATHS.values(), ids=PATHS.keys())
def test_a_path_is_written_as_in_python(path: tuple[tp.Any, ...], text: str) -> None:
    assert attribute_path(path) == text


def test_entries_of_jax_paths_become_keys() -> None:
    tree = {"a": [1, {2: 3}]}
    ((path, _), (deep, _)) = jax.tree_util.tree_leaves_with_path(tree)
    assert tuple(map(key_of_entry, path)) == ("a", 0)
    assert tuple(map(key_of_entry, deep)) == ("a", 1, 2)
    assert key_of_entry(jax.tree_util.GetAttrKey("x")) == "x"
    assert key_of_entry(jax.tree_util.FlattenedIndexKey(4)) == 4
