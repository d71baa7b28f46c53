"""What `cond` and `switch` do better than the oracle: errors that name places, any mode."""

from __future__ import annotations

import re

import jax.numpy as jnp
import pytest

from tests.transforms.library import nnx
from tests.transforms.modes import Before, all_modes, counter, fixed_modes, number
from typed_nnx.errors import StructureChangedError


def adds_z(model):
    model.z = type(model.n)(jnp.float32(5))


def leaves(model):
    return None


def sets_mode(value):
    def sets(model):
        model.inner.mode = value

    return sets


def error_of(call):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    return str(caught.value)


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
        text = error_of(lambda model=model, changes=changes: nnx.cond(True, changes, leaves, model))
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
