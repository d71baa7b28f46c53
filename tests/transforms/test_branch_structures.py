"""With graph updates, branches may change structures, as long as they all do so alike."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

from tests.core.libraries import both
from tests.transforms.modes import Before, counter, number

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


def adds_z(model):
    model.z = type(model.n)(jnp.float32(5))


def leaves(model):
    return None


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
