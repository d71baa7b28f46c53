"""`while_loop`, `fori_loop` and the carry of `scan`: what a Python loop does to Modules, compiled."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from tests.core.libraries import both
from tests.transforms.library import nnx
from tests.transforms.modes import (
    Before,
    all_modes,
    counter,
    error_of,
    gradient,
    number,
    shared_modes,
)

each_loop = pytest.mark.parametrize("loop", ["while_loop", "fori_loop", "scan"])


def repeat(lib, loop, body, init, steps=3, **mode):
    """Run `body` on the carry `steps` times in a kind of loop."""
    if loop == "fori_loop":
        return lib.fori_loop(0, steps, lambda i, carry: body(carry), init, **mode)
    if loop == "scan":
        axes = {"in_axes": lib.Carry, "out_axes": lib.Carry}
        return lib.scan(body, length=steps, **axes, **mode)(init)

    def counted(carry):
        inner, done = carry
        return body(inner), done + 1

    done = jnp.array(0, jnp.int32)
    return lib.while_loop(lambda carry: carry[1] < steps, counted, (init, done), **mode)[0]


def doubles(model):
    model.n[...] += 1
    model.w[...] *= 2
    return model


@both
@all_modes
@each_loop
def test_updates_of_the_carry_come_out(lib, mode, loop):
    model = counter(lib, 1.0, 2.0)
    weights = model.w
    repeat(lib, loop, doubles, model, **mode)
    assert model.w is weights
    assert number(model.n) == 3.0
    assert number(model.w) == [8.0, 16.0]


@both
@shared_modes
@each_loop
def test_shared_objects_of_the_carry_stay_shared(lib, mode, loop):
    model, seen = counter(lib), []
    carry = {"first": model, "pair": lib.Dict(a=model, b=model)}

    def body(carry):
        seen.append(carry["first"] is carry["pair"].a is carry["pair"].b)
        carry["first"].n[...] += 1
        carry["pair"].b.n[...] += 1
        return carry

    result = repeat(lib, loop, body, carry, **mode)
    assert set(seen) == {True}
    assert number(model.n) == 6.0
    assert result["first"] is result["pair"].a
    assert carry["pair"].a is carry["pair"].b


@both
@all_modes
@each_loop
def test_no_steps_leave_everything_as_it_was(lib, mode, loop):
    model = counter(lib)
    repeat(lib, loop, doubles, model, steps=0, **mode)
    assert number(model.n) == 0.0
    assert number(model.w) == [1.0, 2.0]


@both
@all_modes
@each_loop
@pytest.mark.parametrize(
    "value", [jnp.zeros(3, jnp.float32), jnp.array(0, jnp.int32)], ids=["shape", "dtype"]
)
def test_a_value_that_changes_its_shape_or_dtype_is_an_error(lib, mode, loop, value):
    model = counter(lib)
    before = Before(model)

    def body(model):
        model.n.set_value(value)
        return model

    with pytest.raises((TypeError, ValueError), match=str(value.dtype)):
        repeat(lib, loop, body, model, **mode)
    assert before.is_still_so()


@both
@all_modes
@each_loop
@pytest.mark.parametrize(
    "body",
    [lambda carry: list(carry), lambda carry: (carry[0],)],
    ids=["type", "length"],
)
def test_a_body_that_returns_another_tree_is_an_error(lib, mode, loop, body):
    model, other = counter(lib, 1.0), counter(lib, 2.0)
    before = Before(model), Before(other)
    with pytest.raises((TypeError, ValueError)):
        repeat(lib, loop, body, (model, other), **mode)
    assert all(known.is_still_so() for known in before)


def adds_variable(model):
    model.z = type(model.n)(jnp.float32(1))
    return model


def removes(model):
    del model.n
    return model


def adds_static(model):
    model.mode = "a"
    return model


def sets_metadata(model):
    model.n.set_metadata(tag="other")
    return model


@both
@all_modes
@each_loop
def test_a_carry_of_weak_type_takes_the_dtype_of_the_body(lib, mode, loop):
    result = repeat(lib, loop, lambda c: c + 1.0, 0, **mode)
    assert result.dtype == jnp.float32
    assert number(result) == 3.0


# -- while_loop ------------------------------------------------------------------------------------


@both
@all_modes
@pytest.mark.parametrize(
    "condition",
    [lambda c: jnp.array([True]), lambda c: (c < 3,), lambda c: None, lambda c: c + 1],
    ids=["shape", "tuple", "none", "number"],
)
def test_a_condition_gives_one_boolean(lib, mode, condition):
    with pytest.raises(TypeError, match="(?i)bool"):
        lib.while_loop(condition, lambda c: c + 1, jnp.array(0), **mode)


@both
@all_modes
def test_a_while_loop_has_no_reverse_gradient(lib, mode):
    def loss(model):
        repeat(lib, "while_loop", doubles, model, **mode)
        return model.w[...].sum()

    with pytest.raises(ValueError, match="Reverse-mode differentiation does not work"):
        lib.grad(loss, **mode)(counter(lib))


# -- fori_loop -------------------------------------------------------------------------------------


def adds_step(i, model):
    model.n[...] += jnp.asarray(i, jnp.float32)
    return model


@both
@all_modes
@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (1, 4, 6.0),
        (-2, 1, -3.0),
        (2, 2, 0.0),
        (0, -3, 0.0),
        (jnp.array(1), jnp.array(4), 6.0),
        (1, jnp.array(4), 6.0),
        (np.int32(1), np.int64(4), 6.0),
        (jnp.array(1, jnp.uint8), jnp.array(4, jnp.uint8), 6.0),
    ],
    ids=str,
)
def test_the_index_counts_from_the_lower_bound_up_to_the_upper(lib, mode, lower, upper, expected):
    model = counter(lib)
    lib.fori_loop(lower, upper, adds_step, model, **mode)
    assert number(model.n) == expected


@both
@all_modes
def test_traced_bounds_are_taken_but_not_unrolled(lib, mode):
    model = counter(lib)

    def run(unroll):
        @lib.jit(**mode)
        def inside(model, upper):
            lib.fori_loop(0, upper, adds_step, model, unroll=unroll, **mode)

        inside(model, 4)

    run(None)
    assert number(model.n) == 6.0
    with pytest.raises(ValueError, match="unroll"):
        run(2)
    assert number(model.n) == 6.0


@both
@all_modes
def test_a_gradient_goes_through_static_bounds_only(lib, mode):
    def squares(i, model):
        model.w[...] = jnp.square(model.w[...])
        return model

    def loss(model, upper):
        lib.fori_loop(0, upper, squares, model, **mode)
        return model.w[...].sum()

    slopes = lib.grad(lambda model: loss(model, 3), **mode)(counter(lib, 1.0, 1.5))
    np.testing.assert_allclose(gradient(slopes, "w"), [8.0, 8 * 1.5**7], rtol=1e-5)
    with pytest.raises(ValueError, match="Reverse-mode differentiation does not work"):
        lib.jit(lib.grad(loss, **mode), **mode)(counter(lib), 3)


# -- errors that name places -----------------------------------------------------------------------


@all_modes
@each_loop
@pytest.mark.parametrize(
    ("body", "place"),
    [
        (adds_variable, "inner.z"),
        (removes, "inner.n"),
        (adds_static, "inner.mode"),
        (sets_metadata, "inner.n"),
    ],
)
def test_a_change_of_structure_names_what_and_where(mode, loop, body, place):
    if (loop, body, mode) == ("scan", adds_static, {}):
        pytest.skip("a static attribute may change in the last step")
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
@each_loop
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
@each_loop
def test_a_body_that_exchanges_two_modules_is_an_error(mode, loop):
    one, two = counter(nnx, 1.0), counter(nnx, 2.0)
    before = Before(one), Before(two)
    text = error_of(lambda: repeat(nnx, loop, lambda pair: pair[::-1], (one, two), **mode))
    assert loop in text
    assert all(known.is_still_so() for known in before)


@all_modes
@each_loop
def test_a_shape_that_changes_names_the_path(mode, loop):
    model = nnx.Dict(inner=counter(nnx))

    def inside(model):
        model.inner.n.set_value(jnp.zeros(3, jnp.float32))
        return model

    text = error_of(lambda: repeat(nnx, loop, inside, model, **mode))
    assert "inner.n" in text
    assert "float32[3]" in text


@each_loop
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
@each_loop
def test_the_result_is_the_very_object_in_every_mode(mode, loop):
    model = counter(nnx)
    assert repeat(nnx, loop, doubles, model, **mode) is model
