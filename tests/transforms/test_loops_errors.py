"""What the loops do better than the oracle: errors that name places, nothing lost silently."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

from tests.transforms.library import nnx
from tests.transforms.modes import Before, all_modes, counter, error_of, number
from tests.transforms.test_loops import (
    adds_static,
    adds_variable,
    both_loops,
    doubles,
    removes,
    repeat,
)


@all_modes
@both_loops
@pytest.mark.parametrize(
    ("body", "place"),
    [(adds_variable, "inner.z"), (removes, "inner.n"), (adds_static, "inner.mode")],
)
def test_a_change_of_structure_names_what_and_where(mode, loop, body, place):
    model = nnx.Dict(inner=counter(nnx))
    before = Before(model.inner)

    def inside(model):
        body(model.inner)
        return model

    text = error_of(lambda: repeat(nnx, loop, inside, model, **mode))
    assert loop in text
    assert place in text
    assert "Fix:" in text
    assert "GraphDef" not in text
    assert before.is_still_so()


@all_modes
@both_loops
def test_a_replaced_variable_is_an_error_that_names_it(mode, loop):
    model = nnx.Dict(inner=counter(nnx))
    before = Before(model.inner)

    def inside(model):
        model.inner.n = nnx.Variable(model.inner.n[...] + 1)
        return model

    text = error_of(lambda: repeat(nnx, loop, inside, model, **mode))
    assert loop in text
    assert "inner.n" in text
    assert before.is_still_so()


@all_modes
@both_loops
def test_a_body_that_exchanges_two_modules_is_an_error(mode, loop):
    one, two = counter(nnx, 1.0), counter(nnx, 2.0)
    before = Before(one), Before(two)
    text = error_of(lambda: repeat(nnx, loop, lambda pair: pair[::-1], (one, two), **mode))
    assert loop in text
    assert all(known.is_still_so() for known in before)


@all_modes
@both_loops
def test_a_shape_that_changes_names_the_path(mode, loop):
    model = nnx.Dict(inner=counter(nnx))

    def inside(model):
        model.inner.n.set_value(jnp.zeros(3, jnp.float32))
        return model

    text = error_of(lambda: repeat(nnx, loop, inside, model, **mode))
    assert "inner.n" in text
    assert "float32[3]" in text


@both_loops
def test_in_tree_mode_a_shared_carry_is_refused_and_not_untied(loop):
    model = counter(nnx)
    before = Before(model)
    with pytest.raises(ValueError, match=r"(?s)Duplicate.*paths.*a.*b"):
        repeat(nnx, loop, lambda pair: pair, nnx.Dict(a=model, b=model), graph=False)
    assert before.is_still_so()


@all_modes
def test_a_condition_that_writes_is_an_error_or_counts(mode):
    """The oracle loses such a write without a word; each evaluation counts, or it is refused."""
    model = counter(nnx, 1.0, 2.0)
    before = Before(model)

    def writes(model):
        model.n[...] += 1
        return model.w[...].sum() < 20

    try:
        nnx.while_loop(writes, doubles, model, **mode)
    except (TypeError, ValueError):
        assert before.is_still_so()
    else:
        assert number(model.n) == 3.0 + 4.0


@all_modes
@both_loops
def test_the_result_is_the_very_object_in_every_mode(mode, loop):
    model = counter(nnx)
    assert repeat(nnx, loop, doubles, model, **mode) is model
