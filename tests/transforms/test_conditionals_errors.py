"""What `cond` and `switch` do better than the oracle: errors that name places, any mode, other structures."""

from __future__ import annotations

import functools
import re

import jax.numpy as jnp
import pytest

from tests.core.libraries import both
from tests.transforms.library import nnx
from tests.transforms.modes import Before, all_modes, counter, error_of, fixed_modes
from typed_nnx.errors import StructureChangedError


def adds_z(model):
    model.z = type(model.n)(jnp.float32(5))


def leaves(model):
    return None


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


# -- with graph updates, branches may change structures, as long as they all do so alike ------------


@both
def test_branches_that_return_different_operands_are_an_error(lib):
    with pytest.raises((TypeError, ValueError), match="differ"):
        lib.cond(True, lambda a, b: a, lambda a, b: b, counter(lib, 1.0), counter(lib, 2.0))
