"""What `cond` and `switch` do better than the oracle: errors that name places, any mode, other structures."""

from __future__ import annotations

import functools
import re

import jax.numpy as jnp
import pytest

from tests.core.libraries import both
from tests.transforms.library import nnx
from tests.transforms.modes import Before, all_modes, counter, error_of, fixed_modes, number
from typed_nnx.errors import StructureChangedError


def adds_z(model):
    model.z = type(model.n)(jnp.float32(5))


def leaves(model):
    return None


def sets_mode(value):
    def sets(model):
        model.inner.mode = value

    return sets


@pytest.mark.parametrize("function", ["cond", "switch"])
def test_the_error_names_both_branches_and_the_path_where_they_differ(function):
    model = nnx.Dict(inner=counter(nnx))

    def adds(model):
        adds_z(model.inner)

    def run():
        if function == "cond":
            nnx.cond(True, adds, leaves, model)
        else:
            nnx.switch(0, [leaves, adds, leaves], model)

    text = error_of(run)
    assert "inner.z" in text
    assert "inner.z was removed" not in text
    assert "adds" in text
    assert "leaves" in text
    assert "Fix:" in text
    assert "GraphDef" not in text
    assert len(text) < 1500


def test_the_error_tells_which_static_values_differ():
    model = nnx.Dict(inner=counter(nnx))
    text = error_of(lambda: nnx.cond(True, sets_mode("train"), sets_mode("eval"), model))
    assert "inner.mode" in text
    assert "'train'" in text
    assert "'eval'" in text


def test_the_error_tells_which_branch_removes_or_replaces():
    def removes(model):
        del model.n

    def replaces(model):
        model.n = nnx.Variable(model.n[...])

    for changes in (removes, replaces):
        model = counter(nnx)
        before = Before(model)
        text = error_of(functools.partial(nnx.cond, True, changes, leaves, model))
        assert changes.__name__ in text
        assert "leaves" in text
        assert re.search(r"\bn\b", text.split("Fix:")[0])
        assert "n was added" not in text
        assert before.is_still_so()


def test_an_update_of_another_dtype_names_the_path():
    model = nnx.Dict(inner=counter(nnx))

    def to_int(model):
        model.inner.n.set_value(jnp.array(0, jnp.int32))

    def to_float(model):
        model.inner.n.set_value(jnp.array(0, jnp.float32))

    text = error_of(lambda: nnx.cond(True, to_int, to_float, model))
    assert "inner.n" in text
    assert "int32" in text
    assert "float32" in text


@fixed_modes
def test_without_graph_updates_a_change_of_structure_is_an_error(mode):
    for changes in (adds_z, lambda model: setattr(model, "mode", "a")):
        model = counter(nnx)
        before = Before(model)
        with pytest.raises(StructureChangedError, match=r"(?s)(z|mode) was added.*Fix:"):
            nnx.cond(True, changes, changes, model, **mode)
        with pytest.raises(StructureChangedError, match=r"(?s)(z|mode) was added.*Fix:"):
            nnx.switch(0, [leaves, changes], model, **mode)
        assert before.is_still_so()


@all_modes
def test_a_predicate_or_index_may_be_a_variable(mode):
    assert int(nnx.cond(nnx.Variable(jnp.array(False)), lambda: 1, lambda: 2, **mode)) == 2
    assert int(nnx.switch(nnx.Variable(jnp.array(1)), [lambda: 1, lambda: 2], **mode)) == 2


@all_modes
def test_a_predicate_inside_an_operand_is_only_read(mode):
    model = counter(nnx)
    nnx.cond(model.n[...] < 1, lambda m: m.n.set_value(m.n[...] + 1), leaves, model, **mode)
    nnx.cond(model.n[...] < 1, lambda m: m.n.set_value(m.n[...] + 1), leaves, model, **mode)
    assert number(model.n) == 1.0


# -- with graph updates, branches may change structures, as long as they all do so alike ------------


branch = pytest.mark.parametrize("taken", [True, False])


@both
@branch
def test_a_variable_that_both_branches_replace_is_the_new_one(lib, taken):
    model = counter(lib)
    count = model.n

    def replace(value):
        def inside(model):
            model.n = lib.Variable(jnp.float32(value))

        return inside

    lib.cond(taken, replace(5), replace(6), model)
    assert model.n is not count
    assert number(model.n) == (5.0 if taken else 6.0)
    assert number(count) == 0.0


@both
def test_what_both_branches_add_remove_and_set_is_there_after_it(lib):
    model = counter(lib)

    def inside(model):
        model.extra = lib.Variable(model.w[...] * 3)
        model.mode = "trained"
        del model.n

    lib.cond(True, inside, inside, model)
    assert number(model.extra) == [3.0, 6.0]
    assert model.mode == "trained"
    assert not hasattr(model, "n")


@both
def test_children_that_both_branches_swap_are_swapped(lib):
    one, two = counter(lib, 1.0), counter(lib, 2.0)
    pair = lib.Dict(a=one, b=two)

    def swap(pair):
        pair.a, pair.b = pair.b, pair.a
        pair.a.n[...] += 1

    lib.cond(True, swap, swap, pair)
    assert pair.b is one
    assert number(pair.a.w) == [2.0]
    assert (number(pair.a.n), number(pair.b.n)) == (1.0, 0.0)


@both
def test_an_operand_that_every_branch_returns_is_the_very_object(lib):
    model = counter(lib)
    result = lib.cond(True, lambda m: (m, m.w, m), lambda m: (m, m.w, m), model)
    assert result[0] is model
    assert result[1] is model.w
    assert result[2] is model


@both
@branch
@pytest.mark.parametrize("function", ["cond", "switch"])
def test_branches_that_leave_different_structures_are_an_error(lib, taken, function):
    model = counter(lib)
    before = Before(model)

    def run():
        if function == "cond":
            lib.cond(taken, adds_z, leaves, model)
        else:
            lib.switch(int(taken), (adds_z, leaves), model)

    with pytest.raises((TypeError, ValueError), match=function):
        run()
    assert before.is_still_so()


@both
def test_branches_that_set_different_static_values_are_an_error(lib):
    model = counter(lib)
    before = Before(model)
    with pytest.raises((TypeError, ValueError), match="differ"):
        lib.cond(True, lambda m: setattr(m, "mode", "a"), lambda m: setattr(m, "mode", "b"), model)
    assert before.is_still_so()


@both
def test_branches_that_return_different_operands_are_an_error(lib):
    with pytest.raises((TypeError, ValueError), match="differ"):
        lib.cond(True, lambda a, b: a, lambda a, b: b, counter(lib, 1.0), counter(lib, 2.0))
