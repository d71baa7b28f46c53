"""copy and deepcopy keep values, metadata, sharing and cycles, and a deep copy shares nothing."""

from __future__ import annotations

import copy
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings

import typed_nnx as nnx
from tests.graph.descriptions import Graph
from tests.graph.oracle import objects_by_path, value_view, walk
from tests.graph.strategies import graphs
from tests.graph.worlds import World


class Layer(nnx.Module):
    def __init__(self) -> None:
        self.kernel = nnx.Param(jnp.ones((2,)), note="n", sizes=(1, 2))
        self.scale = jnp.ones(())
        self.name = "layer"


class Tied(nnx.Module):
    def __init__(self) -> None:
        self.first = Layer()
        self.second = self.first
        self.kernel = self.first.kernel
        self.me = self
        self.items = nnx.List([self.first, nnx.Dict({"a": Layer()})])
        self.plain = nnx.data({"k": [self.kernel, None]})
        self.options = ["a", {"b": 1}]


def leaves_of(state: tp.Any) -> list[tp.Any]:
    return [(path, value_view(leaf)) for path, leaf in nnx.to_flat_state(state)]


def test_a_copied_variable_has_its_own_value_and_metadata() -> None:
    original = nnx.Param(jnp.ones((2,)), note="n")
    for duplicate in (copy.copy(original), copy.deepcopy(original)):
        assert type(duplicate) is nnx.Param
        assert duplicate.note == "n"
        duplicate[...] = jnp.zeros((2,))
        duplicate.set_metadata("note", "changed")
        duplicate.set_metadata("more", 1)
    np.testing.assert_array_equal(original[...], np.ones((2,)))
    assert original.note == "n"
    assert not original.has_metadata("more")


def test_a_deep_copy_of_a_variable_copies_containers_in_metadata() -> None:
    original = nnx.Param(jnp.ones((2,)), notes=["a"])
    duplicate = copy.deepcopy(original)
    duplicate.notes.append("b")
    assert original.notes == ["a"]


def test_a_shallow_copy_of_a_module_shares_children_but_not_attributes() -> None:
    original = Tied()
    duplicate = copy.copy(original)
    assert type(duplicate) is Tied
    assert duplicate.first is original.first
    assert duplicate.kernel is original.kernel
    before = walk(original)
    extended: tp.Any = duplicate
    extended.more = nnx.Param(jnp.zeros(()))
    extended.name = "static"
    del duplicate.second
    assert walk(original) == before
    assert [path for path, _ in nnx.to_flat_state(nnx.state(duplicate))][-1] == ("more",)


def test_a_deep_copy_of_a_module_keeps_sharing_and_cycles() -> None:
    original = Tied()
    duplicate = copy.deepcopy(original)
    assert walk(duplicate) == walk(original)
    assert duplicate.second is duplicate.first
    assert duplicate.kernel is duplicate.first.kernel
    assert duplicate.me is duplicate
    assert duplicate.items[0] is duplicate.first
    assert duplicate.plain["k"][0] is duplicate.kernel
    assert duplicate.first is not original.first
    assert duplicate.options == original.options
    assert duplicate.options is not original.options


def test_a_deep_copy_works_on_after_its_original_has_been_split() -> None:
    original = Tied()
    nnx.split(original)
    duplicate: tp.Any = copy.deepcopy(original)
    duplicate.first.kernel = nnx.BatchStat(jnp.zeros(()))
    duplicate.items.append(Layer())
    assert len(nnx.to_flat_state(nnx.state(duplicate, nnx.BatchStat))) == 1
    assert len(nnx.to_flat_state(nnx.state(original, nnx.BatchStat))) == 0
    assert len(original.items) == 2


def test_a_copied_module_is_seen_apart_by_the_record() -> None:
    original = Layer()
    nnx.split(original)
    duplicate = copy.copy(original)
    duplicate.name = "copy"
    duplicate.kernel = nnx.Param(jnp.zeros((3,)))
    assert nnx.state(original)["kernel"][...].shape == (2,)
    assert nnx.state(duplicate)["kernel"][...].shape == (3,)
    assert nnx.graphdef(original) != nnx.graphdef(duplicate)


@pytest.mark.parametrize("make", [lambda: nnx.List([1, Layer()]), lambda: nnx.Dict({"a": Layer()})])
def test_a_copied_container_can_be_changed_alone(make: tp.Callable[[], tp.Any]) -> None:
    original = make()
    for duplicate in (copy.copy(original), copy.deepcopy(original)):
        assert walk(duplicate) == walk(original)
        duplicate.clear()
        assert len(duplicate) == 0
    assert len(original) > 0


def test_a_deep_copy_of_a_state_has_its_own_variables() -> None:
    state = nnx.state(Tied())
    duplicate = copy.deepcopy(state)
    assert isinstance(duplicate, nnx.State)
    assert leaves_of(duplicate) == leaves_of(state)
    duplicate["first"]["kernel"][...] = jnp.zeros((2,))
    np.testing.assert_array_equal(state["first"]["kernel"][...], np.ones((2,)))


def test_a_copied_state_can_lose_keys_alone() -> None:
    state = nnx.state(Tied())
    duplicate = copy.copy(state)
    del duplicate["first"]
    assert "first" in state


def test_a_copied_graphdef_is_equal_and_merges() -> None:
    graphdef, state = nnx.split(Tied())
    for duplicate in (copy.copy(graphdef), copy.deepcopy(graphdef)):
        assert duplicate == graphdef
        assert nnx.merge(duplicate, state).me.first.name == "layer"


def test_a_deep_copy_of_rngs_draws_the_same_numbers_and_counts_alone() -> None:
    original = nnx.Rngs(0, dropout=1)
    original.dropout()
    duplicate = copy.deepcopy(original)
    drawn = duplicate.dropout()
    assert duplicate.dropout.count[...] == 2
    assert original.dropout.count[...] == 1
    assert bool((jax.random.key_data(drawn) == jax.random.key_data(original.dropout())).all())


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_deep_copies_of_generated_graphs_are_equal_and_share_no_object(graph: Graph) -> None:
    root = World(nnx, graph).root
    duplicate = copy.deepcopy(root)
    assert walk(duplicate) == walk(root)
    originals, copies = objects_by_path(root), objects_by_path(duplicate)
    shared = [
        p
        for p, x in copies.items()
        if originals[p] is x and not isinstance(x, jax.Array | np.ndarray)
    ]
    assert shared == []
    assert nnx.graphdef(duplicate) == nnx.graphdef(root)
