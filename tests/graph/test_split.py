"""`split`, `merge`, `clone`, `unpack`, `call`, `pure`: what `test_differential` does not ask."""

from __future__ import annotations

import functools
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.graph.oracle import outcome, value_view, walk
from tests.support.peer import (
    Scenario,
    assert_as_in_flax,
    assert_refused_as_in_flax,
    both_libraries,
    scenarios,
)

OURS: tp.Any = nnx


@functools.cache
def model_class(nnx: tp.Any) -> tp.Any:
    """Return a class of models with sharing, a cycle, containers and bare arrays."""

    class Layer(nnx.Module):
        def __init__(self, size: int) -> None:
            self.kernel = nnx.Param(jnp.ones((size,)), note="k")
            self.mean = nnx.BatchStat(jnp.zeros(()))
            self.size = size

    class Model(nnx.Module):
        def __init__(self) -> None:
            self.first = Layer(2)
            self.again = self.first
            self.blocks = nnx.List([Layer(3), self.first.kernel])
            self.plain = nnx.data({"a": [nnx.Param(jnp.ones(1)), None], "t": (jnp.zeros(2), 5)})
            self.scale = jnp.float32(2)
            self.me = self

    Model.Layer, Layer.__qualname__, Model.__qualname__ = Layer, "Layer", "Model"
    return Model


def view(nnx: tp.Any, state: tp.Any) -> tp.Any:
    return [(path, value_view(leaf)) for path, leaf in nnx.to_flat_state(state)]


def merged_bare_values(nnx: tp.Any) -> tp.Any:
    graphdef, state = nnx.split(model_class(nnx)())
    return walk(nnx.merge(graphdef, nnx.pure(state))), walk(
        nnx.merge(graphdef, nnx.to_pure_dict(state))
    )


def merged_after_a_tree_map(nnx: tp.Any) -> tp.Any:
    graphdef, state = nnx.split(model_class(nnx)())
    return walk(nnx.merge(graphdef, jax.tree.map(lambda x: x + 1, state)))


def unpacked(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    whole, (params, rest) = nnx.unpack(model), nnx.unpack(model, nnx.Param, ...)
    return (
        walk(nnx.merge(whole)), walk(nnx.merge(params, rest)), type(whole).__name__,
        params["again"]["kernel"][...].tolist(), params.again.kernel.shape,
        walk(nnx.merge(jax.tree.map(lambda x: x * 2, whole))),
    )  # fmt: skip


def flattened_one_after_the_other(nnx: tp.Any) -> tp.Any:
    shared = model_class(nnx).Layer(2)
    a, b = nnx.List([shared]), nnx.Dict(x=shared, y=shared.kernel, z=nnx.Param(jnp.ones(1)))
    index = nnx.graph.RefMap()
    first, first_state = nnx.graph.flatten(a, ref_index=index)
    second, second_state = nnx.graph.flatten(b, ref_index=index)
    made: dict[int, tp.Any] = {}
    c = nnx.graph.unflatten(first, first_state, index_ref=made)
    d = nnx.graph.unflatten(second, second_state, index_ref=made)
    return list(second_state.paths), d["x"] is c[0], d["y"] is c[0].kernel, len(index) == len(made)


def unflattened_with_copies(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    graphdef, flat = nnx.graph.flatten(model)
    made = nnx.graph.unflatten(graphdef, flat, copy_variables=True)
    return made.first.kernel is model.first.kernel, walk(made) == walk(model)


def merged_from_a_list(nnx: tp.Any) -> tp.Any:
    model = nnx.Dict(
        b=nnx.Param(jnp.ones(2)),
        a=nnx.List([nnx.Param(jnp.array(number)) for number in range(12)]),
        c=nnx.BatchStat(jnp.array(3)),
    )
    graphdef, state = nnx.split(model)
    leaves = jax.tree.leaves(state, is_leaf=lambda leaf: isinstance(leaf, nnx.Variable))
    made = nnx.merge(graphdef, leaves)
    lone = nnx.merge(nnx.graphdef(model.c), [model.c])
    values = nnx.merge(graphdef, jax.tree.leaves(state))
    return walk(made), walk(values), made.b is model.b, value_view(lone)


def lists_that_do_not_fit(nnx: tp.Any) -> tp.Any:
    graphdef, state = nnx.split(model_class(nnx)())
    leaves = jax.tree.leaves(state)
    lists = ((leaves[:-1],), ([*leaves, 1],), (leaves[:1], leaves[1:]))
    return [outcome(functools.partial(nnx.merge, graphdef, *given)) for given in lists]


@scenarios(
    merged_bare_values, merged_after_a_tree_map, unpacked, flattened_one_after_the_other,
    unflattened_with_copies, merged_from_a_list, lists_that_do_not_fit,
)  # fmt: skip
def test_objects_become_values_and_back_as_in_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def arrays_copied_without_variables(nnx: tp.Any) -> tp.Any:
    return nnx.clone(model_class(nnx)(), variables=False, arrays=True)


@scenarios(arrays_copied_without_variables)
def test_what_flax_refuses_is_refused(scenario: Scenario) -> None:
    assert_refused_as_in_flax(scenario)


def test_merge_lists_all_that_is_missing_extra_and_wrong() -> None:
    graphdef, state = nnx.split(model_class(OURS)())
    del state["scale"]
    state["again"]["kernel"] = nnx.BatchStat(jnp.ones(2))
    state["more"] = {"x": 1, "y": {"z": 2}}
    with pytest.raises(nnx.errors.StateMismatchError) as caught:
        nnx.merge(graphdef, state)
    assert caught.value.missing == [("scale",)]
    assert sorted(caught.value.extra) == [("more", "x"), ("more", "y", "z")]
    assert str(caught.value).splitlines() == [
        "merge: the states do not fit the GraphDef. Incorrect number of leaves: 1 missing, 2 extra.",
        "  missing, expected at:",
        "    ('scale',)",
        "  extra, not in the GraphDef:",
        "    ('more', 'x')",
        "    ('more', 'y', 'z')",
        "  wrong type at ('again', 'kernel'): expected Param, got BatchStat, float32[2]",
        "  Fix: pass every State that `split` returned, from a model of the same structure",
    ]


def test_an_unpacked_dict_may_have_keys_of_several_types() -> None:
    whole = nnx.unpack({1: nnx.Param(1.0), "a": nnx.Param(2.0)})
    assert jax.tree.leaves(whole) == [1.0, 2.0]
    merged: tp.Any = nnx.merge(jax.tree.map(lambda x: x * 2, whole))
    assert {key: v.get_value() for key, v in merged.items()} == {1: 2.0, "a": 4.0}


def test_a_copy_of_arrays_may_be_donated() -> None:
    model = model_class(OURS)()
    made = nnx.clone(model, arrays=True)
    assert walk(made) == walk(model)
    assert made.scale is not model.scale
    made_leaves = {id(x) for x in jax.tree.leaves(nnx.state(made))}
    assert not made_leaves & {id(x) for x in jax.tree.leaves(nnx.state(model))}


def test_split_merge_and_update_work_inside_jit() -> None:
    model = model_class(OURS)()
    graphdef, state = nnx.split(model)

    @jax.jit
    def step(state: tp.Any) -> tp.Any:
        inner = nnx.merge(graphdef, state)
        inner.first.kernel[...] += 1
        inner.scale = inner.scale * 3
        return nnx.state(inner)

    nnx.update(model, step(state))
    assert model.first.kernel[...].tolist() == [2.0, 2.0]
    assert float(model.scale) == 6.0


@pytest.mark.parametrize("value", [{"a": jnp.array(1.0)}, [jnp.array(1.0)]], ids=["dict", "list"])
def test_a_clone_shares_no_container_that_a_variable_holds(value: tp.Any) -> None:
    model = nnx.Dict(v=nnx.Variable(value))
    key = "a" if isinstance(value, dict) else 0
    for copied in (nnx.clone(model), nnx.merge(*nnx.split(model), copy=True)):
        copied.v[key] = jnp.array(9.0)
        assert float(model.v[key]) == 1.0


def test_a_bare_variable_that_no_filter_takes_is_refused() -> None:
    with pytest.raises(nnx.errors.NoFilterMatchedError, match=r"path \(\)"):
        nnx.split(nnx.Param(1.0), nnx.BatchStat)


@both_libraries
def test_a_merge_without_any_state_is_a_type_error(nnx: tp.Any) -> None:
    graphdef, _ = nnx.split(nnx.Dict(w=nnx.Param(jnp.ones(2))))
    with pytest.raises(
        TypeError, match=r"merge\(\) missing 1 required positional argument: 'state'"
    ):
        nnx.merge(graphdef)


# -- `call`: methods on a (GraphDef, State) pair; compared with flax.nnx ----------------------------


@functools.cache
def counter_class(nnx: tp.Any) -> tp.Any:
    class Counter(nnx.Module):
        def __init__(self) -> None:
            self.count = nnx.Variable(jnp.zeros((), jnp.int32))
            self.steps = nnx.List([])

        def add(self, by: int, times: int = 1) -> int:
            self.count[...] = self.count[...] + by * times
            return by * times

        def grow(self) -> None:
            self.steps.append(nnx.Param(jnp.ones(())))

        def __call__(self, x: tp.Any) -> tp.Any:
            self.add(1)
            return x + self.count[...]

    return Counter


def plain(nnx: tp.Any, pair: tp.Any) -> tp.Any:
    return [(path, float(x[...])) for path, x in nnx.to_flat_state(pair[1])]


def called(nnx: tp.Any) -> tp.Any:
    pair = nnx.split(counter_class(nnx)())
    out, once = nnx.call(pair)(jnp.int32(3))
    after_one = plain(nnx, once)
    out2, twice = nnx.call(once).add(5, times=2)
    return int(out), out2, after_one, plain(nnx, twice)


def inner_methods(nnx: tp.Any) -> tp.Any:
    pair = nnx.split({"a": counter_class(nnx)(), "b": [counter_class(nnx)()]})
    out, new = nnx.call(pair)["b"][0].add(4)
    return out, plain(nnx, new)


def structure_changes(nnx: tp.Any) -> tp.Any:
    pair = nnx.split(counter_class(nnx)())
    _, new = nnx.call(pair).grow()
    return plain(nnx, new), new[0] == pair[0]


@scenarios(called, inner_methods, structure_changes)
def test_a_call_does_what_it_does_in_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def test_the_state_that_went_in_is_not_changed() -> None:
    # flax changes the Variables in it, where it is not called under jit.
    model = counter_class(OURS)()
    pair = nnx.split(model)
    nnx.call(pair).add(7)
    assert int(model.count[...]) == 0


def test_an_unknown_method_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nope"):
        nnx.call(nnx.split(counter_class(OURS)())).nope()


# -- `pure`, `as_pure` and `as_abstract`; compared with flax.nnx ------------------------------------


def model(nnx: tp.Any) -> tp.Any:
    class Model(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.ones((2, 3)), note="n")
            self.inner = nnx.List([nnx.BatchStat(jnp.zeros(1, jnp.int32)), jnp.zeros(3)])
            self.name = "model"

    Model.__qualname__ = "Model"
    return Model()


def pure_module(nnx: tp.Any) -> tp.Any:
    original = model(nnx)
    made = nnx.as_pure(original)
    return (
        type(made).__name__, made.w.tolist(), made.inner[0].tolist(), made.name,
        type(original.w).__name__,
    )  # fmt: skip


def abstract(nnx: tp.Any) -> tp.Any:
    made = nnx.as_abstract(nnx.state(model(nnx)))
    return [
        (path, jax.tree.leaves(x)[0].shape, str(jax.tree.leaves(x)[0].dtype))
        for path, x in nnx.to_flat_state(made)
    ]


@scenarios(pure_module, abstract)
def test_the_result_is_that_of_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def test_abstract_values_are_shapes_that_eval_shape_takes() -> None:
    graphdef, state = nnx.split(model(nnx))
    shapes = nnx.as_abstract(state)
    assert isinstance(shapes["w"].get_raw_value(), jax.ShapeDtypeStruct)
    assert shapes["w"].note == "n"
    out = jax.eval_shape(lambda s: nnx.merge(graphdef, s).w[...].sum(axis=0), shapes)
    assert out.shape == (3,)
    assert nnx.as_abstract([5, "x", np.ones(2)])[0] == 5
