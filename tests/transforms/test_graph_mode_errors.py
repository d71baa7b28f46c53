"""Without graph updates we say what changed, where the oracle drops it without a word."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

from tests.transforms.library import nnx
from tests.transforms.modes import Before, counter, fixed_modes, number
from tests.transforms.test_graph_modes import every_lift, sized
from typed_nnx.errors import SharedReferenceError, StructureChangedError


def adds(model):
    model.z = nnx.Variable(model.w[...] * 3)


def removes(model):
    del model.n


def sets(model):
    model.mode = "trained"


def replaces(model):
    model.n = nnx.Variable(model.n[...])


def exchanges(model):
    model.n = nnx.Param(model.n[...])


@fixed_modes
@every_lift
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (adds, r"inner\.z was added"),
        (removes, r"inner\.n was removed"),
        (sets, r"inner\.mode was added .*'trained'"),
        (replaces, r"inner\.n"),
        (exchanges, r"inner\.n was a Variable, is a Param"),
    ],
    ids=["adds", "removes", "sets", "replaces", "exchanges"],
)
def test_the_error_names_what_changed_and_where(mode, lift, change, message):
    inner = sized(nnx)
    model = nnx.Dict(inner=inner, w=nnx.Param(jnp.ones(3)))
    before = Before(inner)

    def inside(model):
        change(model.inner)
        return 0.0

    with pytest.raises(StructureChangedError, match=rf"(?s){message}.*Fix:"):
        lift(nnx, inside, **mode)(model)
    assert before.is_still_so()


@every_lift
def test_in_tree_mode_the_error_names_both_paths(lift):
    model = sized(nnx)
    pair = nnx.Dict(first=model, second=model, w=model.w)
    with pytest.raises(SharedReferenceError, match=r"(?s)first.*second.*Fix:"):
        lift(nnx, lambda pair: 0.0, graph=False)(pair)


@fixed_modes
@every_lift
def test_a_structure_that_is_as_it_was_at_the_end_is_no_change(mode, lift):
    model = sized(nnx)

    def inside(model):
        model.helper = nnx.Variable(model.w[...] * 2)
        model.n[...] += model.helper[...]
        del model.helper
        return 0.0

    lift(nnx, inside, **mode)(model)
    assert number(model.n) == [2.0, 4.0, 6.0]


@fixed_modes
def test_a_plain_array_is_a_value_and_not_structure(mode):
    model = counter(nnx)
    model.plain = nnx.data(jnp.zeros(2))

    @nnx.jit(**mode)
    def inside(model):
        model.plain = model.plain + 1

    inside(model)
    assert number(model.plain) == [1.0, 1.0]
