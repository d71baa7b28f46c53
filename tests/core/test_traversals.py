"""Nested mappings as flat ones and back; laws run against flax too."""

from __future__ import annotations

from typing import Any

import pytest
from flax.nnx import traversals as flax_traversals
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.libraries import seen
from typed_nnx import traversals

both = pytest.mark.parametrize("lib", [traversals, flax_traversals], ids=["ours", "flax"])

NESTED: dict[Any, Any] = {"a": {"b": 1, "c": {}}, "d": [1, 2], 2: {"x": 3}}

keys = st.text("abc", min_size=1, max_size=2)
trees = st.recursive(
    st.dictionaries(keys, st.integers(), max_size=3),
    lambda inner: st.dictionaries(keys, inner | st.integers(), max_size=3),
    max_leaves=8,
)


@both
def test_keys_of_a_flat_mapping_are_paths(lib: Any) -> None:
    expected = {("a", "b"): 1, ("d",): [1, 2], (2, "x"): 3}
    assert lib.flatten_mapping(NESTED) == expected
    assert lib.flatten_to_sequence(NESTED) == list(expected.items())
    assert lib.flatten_mapping({"a": {"b": 1}, "c": 2}, sep="/") == {"a/b": 1, "c": 2}


@both
def test_empty_mappings_can_be_kept(lib: Any) -> None:
    kept = lib.flatten_mapping(NESTED, keep_empty_nodes=True)
    assert kept["a", "c"] is lib.empty_node
    assert lib.unflatten_mapping(kept) == NESTED
    assert lib.flatten_mapping({}, keep_empty_nodes=True) == {}


@both
def test_a_rule_says_which_mappings_are_leaves(lib: Any) -> None:
    asked: list[Any] = []

    def is_leaf(path: Any, value: Any) -> bool:
        asked.append((path, value))
        return path == ("a",)

    found = {("a",): {"b": 1, "c": {}}, ("d",): [1, 2], (2, "x"): 3}
    assert lib.flatten_mapping(NESTED, is_leaf=is_leaf) == found
    assert asked == [((), NESTED), (("a",), NESTED["a"]), ((2,), NESTED[2])]
    assert lib.flatten_to_sequence(NESTED, is_leaf=is_leaf) == list(found.items())


@both
@given(tree=trees)
@settings(max_examples=20, deadline=None)
def test_unflatten_is_the_inverse(lib: Any, tree: Any) -> None:
    assert lib.unflatten_mapping(lib.flatten_mapping(tree, keep_empty_nodes=True)) == tree
    joined = lib.flatten_mapping(tree, keep_empty_nodes=True, sep="/")
    assert lib.unflatten_mapping(joined, sep="/") == tree
    pairs = lib.flatten_to_sequence(tree)
    assert lib.flatten_to_sequence(lib.unflatten_mapping(pairs)) == pairs


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.flatten_mapping({"a": {1: 1}}, sep="/"),
        lambda lib: lib.unflatten_mapping({("a",): 1, ("a", "b"): 1}),
        lambda lib: lib.unflatten_mapping({("a", "b"): 1, ("a",): 2}),
        lambda lib: lib.unflatten_mapping({(): 1}),
        lambda lib: lib.unflatten_mapping(3),
    ],
    ids=["a key is no text", "through a leaf", "replaced", "no keys", "no mapping"],
)
def test_what_flax_refuses_is_refused(call: Any) -> None:
    assert seen(lambda: call(traversals)) == seen(lambda: call(flax_traversals))


def test_what_is_no_mapping_is_named() -> None:
    with pytest.raises(TypeError, match=r"expected a Mapping; got int\.\n  Fix: "):
        traversals.flatten_mapping(3)  # type: ignore[call-overload]  # the mistake
    with pytest.raises(TypeError, match=r"the path \('a', 'b'\) leads through the leaf at 'a'"):
        traversals.unflatten_mapping({("a",): 1, ("a", "b"): 1})
