"""`State`: a nested mapping with attributes, a pytree, its algebra; compared with flax.nnx."""

from __future__ import annotations

import copy
import functools
import pickle
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.support.peer import (
    Scenario,
    assert_as_in_flax,
    assert_refused_as_in_flax,
    scenarios,
)


@functools.cache
def model_class(nnx: tp.Any) -> tp.Any:
    """Return a class of models with all that a State can hold."""

    class Model(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.arange(3.0), note="n")
            self.stats = nnx.Dict(mean=nnx.BatchStat(jnp.zeros(2)), var=nnx.BatchStat(jnp.ones(2)))
            self.blocks = nnx.List([nnx.Param(jnp.float32(i)) for i in range(3)])
            self.scale = jnp.float32(7)

    return Model


def state_of(nnx: tp.Any) -> tp.Any:
    return nnx.state(model_class(nnx)())


def plain(value: tp.Any) -> tp.Any:
    """Nested dicts of numbers, in their own order, with the types of Variables."""
    if hasattr(value, "items") and not hasattr(value, "get_value"):
        return [(key, plain(inner)) for key, inner in value.items()]
    kind = type(value).__name__
    raw = value.get_value() if hasattr(value, "get_value") else value
    is_array = isinstance(raw, jax.Array | np.ndarray)
    return (kind if hasattr(value, "get_value") else "", raw.tolist() if is_array else raw)


def mapping_access(nnx: tp.Any) -> tp.Any:
    state = state_of(nnx)
    return (
        list(state), len(state), "w" in state, "x" in state, plain(state["stats"]["mean"]),
        plain(state.stats.var), plain(state["blocks"][1]), plain(state.get("nope", 3)),
        sorted(state.keys()), type(state["stats"]).__name__,
    )  # fmt: skip


def written(nnx: tp.Any) -> tp.Any:
    state = state_of(nnx)
    state["new"] = jnp.float32(1)
    state.other = {"a": nnx.Param(jnp.float32(2)), "b": {"c": 3}}
    state["stats"]["mean"] = 5
    del state["w"]
    del state["stats"]["var"]
    return plain(state), type(state["other"]).__name__, plain(state.other.b)


def inner_states_share_entries(nnx: tp.Any) -> tp.Any:
    state = state_of(nnx)
    inner = state["stats"]
    inner["extra"] = 1
    return plain(state["stats"])


def other_mapping_methods(nnx: tp.Any) -> tp.Any:
    state = state_of(nnx)
    popped = state.pop("w")
    default = state.setdefault("z", 4)
    state.update({"y": 5})
    return plain(popped), default, plain(state)


def constructed(nnx: tp.Any) -> tp.Any:
    given = {"b": {"x": 1, "y": {}}, "a": 2}
    state = nnx.State(given)
    state["b"]["x"] = 7
    return plain(state), plain(nnx.State([("q", 1)])), plain(nnx.State({}))


def split_filter_merge(nnx: tp.Any) -> tp.Any:
    state = state_of(nnx)
    a, b, c = state.split(nnx.Param, nnx.BatchStat, ...)
    return (
        [plain(x) for x in (a, b, c)],
        [plain(x) for x in nnx.split_state(state, nnx.Param, ...)],
        plain(nnx.split_state(state, ...)),
        [plain(x) for x in state.filter(nnx.BatchStat, nnx.PathContains("blocks"))],
        plain(nnx.filter_state(state, nnx.Param)),
        plain(nnx.to_pure_dict(nnx.State.merge(a, b, c))),
        plain(nnx.merge_state(c, b, a)),
        plain(nnx.merge_state(a)),
        plain(nnx.merge_state(a, b, cls=dict)),
    )


def algebra(nnx: tp.Any) -> tp.Any:
    state = state_of(nnx)
    params, rest = state.split(nnx.Param, ...)
    return (
        plain(params | rest), plain(state - params), plain(params - state),
        plain(state | {"w": 1}), plain(nnx.State({"a": {"x": 1}}) | {"a": {"y": 2}, "b": 3}),
    )  # fmt: skip


def pure_dicts(nnx: tp.Any) -> tp.Any:
    state = state_of(nnx)
    pure = nnx.to_pure_dict(state)
    shapes = nnx.to_pure_dict(state, lambda leaf: leaf.shape)
    return plain(pure), plain(state.to_pure_dict()), plain(shapes), type(pure["stats"]).__name__


def replaced_by_pure_dict(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    state = nnx.state(model)
    nnx.replace_by_pure_dict(state, {"w": jnp.zeros(3), "blocks": {2: jnp.float32(9)}})
    return plain(state), plain(nnx.state(model)), state["w"].get_metadata()["note"]


def replaced_with_a_function(nnx: tp.Any) -> tp.Any:
    state = state_of(nnx)
    state.replace_by_pure_dict({"stats": {"mean": 4}}, lambda leaf, value: leaf.replace(value * 2))
    return plain(state)


def integer_paths(nnx: tp.Any) -> tp.Any:
    return nnx.restore_int_paths({"0": {"a": 1, "10": 2}, "x1": {"-1": 3}, 4: 5})


@scenarios(
    mapping_access, written, inner_states_share_entries, other_mapping_methods, constructed,
    split_filter_merge, algebra, pure_dicts, replaced_by_pure_dict,
    replaced_with_a_function, integer_paths,
)  # fmt: skip
def test_a_state_does_what_it_does_in_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def unmatched_leaf(nnx: tp.Any) -> tp.Any:
    return state_of(nnx).split(nnx.Param)


def pure_dict_with_an_unknown_path(nnx: tp.Any) -> tp.Any:
    return nnx.replace_by_pure_dict(state_of(nnx), {"nope": {"a": 1}})


@scenarios(unmatched_leaf, pure_dict_with_an_unknown_path)
def test_a_state_refuses_what_flax_refuses(scenario: Scenario) -> None:
    assert_refused_as_in_flax(scenario)


def test_a_pure_dict_with_an_unknown_path_changes_nothing() -> None:
    state = state_of(nnx)
    before = plain(state)
    with pytest.raises(ValueError, match="key in pure_dict not available in state: "):
        nnx.replace_by_pure_dict(state, {"w": jnp.zeros(3), "nope": 1})
    assert plain(state) == before


def test_completion_finds_the_fields() -> None:
    state: tp.Any = nnx.State({"b": 1, "a": {"c": 2}, 0: 3})
    assert {"a", "b", "split", "filter"} <= set(dir(state))
    assert all(isinstance(name, str) for name in dir(state))
    assert state._ipython_key_completions_() == [0, "a", "b"]


def test_keys_of_several_types_can_be_flattened() -> None:
    state = nnx.State({"b": 1.0, 2: 2.0, "a": {1: 3.0, "x": 4.0}})
    doubled = jax.tree.map(lambda x: x * 2, state)
    assert nnx.to_pure_dict(doubled) == {"b": 2.0, 2: 4.0, "a": {1: 6.0, "x": 8.0}}
    assert [p for p, _ in nnx.to_flat_state(state)] == [(2,), ("a", 1), ("a", "x"), ("b",)]


def test_changing_the_state_does_not_change_the_next_state() -> None:
    model = model_class(nnx)()
    expected = plain(nnx.state(model))
    for state in (nnx.state(model), nnx.state(model, nnx.Not(nnx.Cache))):
        state["stats"]["mean"] = 1
        del state["w"]
        state["blocks"][7] = 2
    assert plain(nnx.state(model)) == expected
    assert plain(nnx.state(model, nnx.Not(nnx.Cache))) == expected


def test_a_new_state_has_levels_of_its_own() -> None:
    given = {"b": {"x": 1}}
    state: tp.Any = nnx.State(given)
    state["b"]["x"] = 7
    assert given == {"b": {"x": 1}}


def test_a_state_has_no_hash_and_is_equal_to_equal_mappings() -> None:
    assert nnx.State({"a": {"b": 1}}) == {"a": {"b": 1}}
    assert nnx.State({"a": 1}) not in (5, {"a": 1, "b": 2}, {"a": 2}, {"b": 1}, {})
    assert nnx.State({"a": jnp.ones(2)}) == nnx.State({"a": jnp.ones(2)})
    assert nnx.State({"a": jnp.ones(2)}) != nnx.State({"a": jnp.ones(3)})
    assert nnx.State({"a": nnx.Param(1)}) != nnx.State({"a": nnx.BatchStat(1)})
    assert nnx.State({"a": nnx.Param(1)}) != nnx.State({"a": nnx.Param(1, note=2)})
    with pytest.raises(TypeError, match="unhashable"):
        hash(nnx.State({}))


def test_copies_and_pickles_are_equal_and_apart() -> None:
    state: tp.Any = nnx.State({"a": {"b": jnp.ones(2)}, "c": nnx.Param(1)})
    for twin in (copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        assert twin == state
        twin["a"]["x"] = 1
        assert "x" not in state["a"]


def test_a_digit_that_is_no_number_stays_a_text() -> None:
    assert nnx.restore_int_paths({"\u00b2": {"7": 1}}) == {"\u00b2": {7: 1}}


def test_diff_keeps_the_paths_that_the_other_state_has_not() -> None:
    left = nnx.State({"a": {"x": 1, "y": 2}, "b": 3})
    assert nnx.diff(left, {"a": {"x": 9}}) == {"a": {"y": 2}, "b": 3}
    assert nnx.diff(left, left) == {}


names = st.sampled_from(["a", "b", 0, 1])


nested: st.SearchStrategy[tp.Any] = st.dictionaries(
    names,
    st.recursive(
        st.integers(), lambda x: st.dictionaries(names, x, min_size=1, max_size=3), max_leaves=5
    ),
    max_size=4,
)


@settings(max_examples=80, deadline=None)
@given(nested)
def test_flattening_and_building_again_is_the_identity(entries: tp.Any) -> None:
    state = nnx.State(entries)
    flat = nnx.to_flat_state(state)
    assert nnx.from_flat_state(flat) == state == entries
    assert nnx.to_pure_dict(state) == entries
    assert jax.tree.unflatten(*jax.tree.flatten(state)[::-1]) == state
    assert [leaf for _, leaf in flat] == jax.tree.leaves(state)


@settings(max_examples=80, deadline=None)
@given(nested)
def test_splitting_and_merging_is_the_identity(entries: tp.Any) -> None:
    state = nnx.State(entries)
    parts: tp.Any = nnx.split_state(
        state, lambda path, leaf: leaf % 2 == 0, nnx.PathContains("a"), ...
    )
    assert nnx.merge_state(*parts) == state
    flat = [path for part in parts for path, _ in nnx.to_flat_state(part)]
    assert sorted(map(repr, flat)) == sorted(repr(p) for p, _ in nnx.to_flat_state(state))
    assert state - parts[0] - parts[1] == parts[2]


# -- `FlatState`: sorted pairs, a sequence and a pytree ---------------------------------------------


def model(nnx: tp.Any) -> tp.Any:
    leaf = lambda x: nnx.Param(jnp.float32(x))  # noqa: E731 -- short
    return nnx.Dict(b=leaf(1), a=nnx.List([leaf(i) for i in range(11)]), c=nnx.Dict(x=leaf(2)))


def pairs_of(flat: tp.Any) -> tp.Any:
    return [(path, float(leaf[...])) for path, leaf in flat]


def sorted_pairs(nnx: tp.Any) -> tp.Any:
    flat = nnx.to_flat_state(nnx.state(model(nnx)))
    return pairs_of(flat), list(flat.paths), [float(v[...]) for v in flat.leaves], len(flat)


def items(nnx: tp.Any) -> tp.Any:
    flat = nnx.to_flat_state(nnx.state(model(nnx)))
    return pairs_of([flat[0], flat[-1]])


def round_trip(nnx: tp.Any) -> tp.Any:
    state = nnx.state(model(nnx))
    flat = nnx.to_flat_state(state)
    built = [nnx.from_flat_state(flat), nnx.from_flat_state(dict(flat)), state.from_flat_path(flat)]
    return [pairs_of(nnx.to_flat_state(x)) for x in built], nnx.from_flat_state(
        flat, cls=dict
    ).keys()


def tree(nnx: tp.Any) -> tp.Any:
    flat = nnx.to_flat_state(nnx.state(model(nnx)))
    doubled = jax.tree.map(lambda x: 2 * x, flat)
    return pairs_of(doubled), type(doubled).__name__


def state_method(nnx: tp.Any) -> tp.Any:
    return pairs_of(nnx.state(model(nnx)).flat_state())


def grouped(nnx: tp.Any) -> tp.Any:
    flat = nnx.to_flat_state(nnx.state(model(nnx)))
    parts = flat.split(nnx.PathContains("a"), ...)
    chosen = flat.filter(nnx.PathContains("c"))
    merged = type(flat).merge(*parts)
    nested = flat.to_nested_state()
    return (
        [pairs_of(part) for part in parts], pairs_of(chosen), sorted(pairs_of(merged), key=repr),
        pairs_of(nnx.to_flat_state(nested)), isinstance(nested, nnx.State),
    )  # fmt: skip


@scenarios(grouped, sorted_pairs, items, round_trip, tree, state_method)
def test_a_flat_state_does_what_it_does_in_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def test_a_slice_is_a_flat_state() -> None:
    flat = nnx.to_flat_state(nnx.state(model(nnx)))
    part = flat[1:3]
    assert isinstance(part, nnx.FlatState)
    assert part.paths == (("a", 1), ("a", 2))


def test_pairs_are_sorted_on_demand_with_numbers_in_numeric_order() -> None:
    pairs = [(("b",), 1), (("a", 10), 2), (("a", 9), 3)]
    assert list(nnx.FlatState(pairs, sort=True)) == [(("a", 9), 3), (("a", 10), 2), (("b",), 1)]
    assert list(nnx.FlatState(pairs, sort=False)) == pairs
