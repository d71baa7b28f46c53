"""`checkify`: errors come out as values, and the model is updated either way."""

from __future__ import annotations

import jax.numpy as jnp
import pytest
from jax.experimental import checkify

from tests.core.libraries import both
from tests.transforms.jit_models import count_of, counter, numbers
from tests.transforms.modes import all_modes


def checked(model, x):
    """Demand a positive `x`, count and multiply."""
    checkify.check(jnp.all(x > 0), "x is {x}", x=x)
    model.count[...] += 1
    return model.kernel[...] * x


@both
@all_modes
@pytest.mark.parametrize(
    "transform",
    [
        lambda lib, mode: lib.checkify(checked, **mode),
        lambda lib, mode: lib.jit(lib.checkify(checked, **mode), **mode),
        lambda lib, mode: lib.checkify(lib.jit(checked, **mode), **mode),
    ],
    ids=["plain", "in_jit", "of_jit"],
)
def test_a_failed_check_comes_out_and_the_model_is_updated(lib, mode, transform):
    model = counter(lib)
    step = transform(lib, mode)
    error, result = step(model, jnp.array(2.0))
    assert (error.get(), numbers(result), count_of(model)) == (None, [2, 4, 6], 1)
    error.throw()
    error, result = step(model, jnp.array(-2.0))
    assert "x is -2" in error.get()
    assert (numbers(result), count_of(model)) == ([-2, -4, -6], 2)
    with pytest.raises(checkify.JaxRuntimeError, match="x is -2"):
        error.throw()


@both
@all_modes
@pytest.mark.parametrize(
    ("errors", "text"),
    [
        (checkify.user_checks, None),
        (checkify.nan_checks, "nan generated"),
        (checkify.div_checks, None),
        (checkify.index_checks, "out-of-bounds"),
        (checkify.float_checks, "nan generated"),
        (checkify.all_checks, "nan generated"),
    ],
    ids=["user", "nan", "div", "index", "float", "all"],
)
def test_the_set_of_errors_decides_what_is_found(lib, mode, errors, text):
    def step(model, x):
        model.count.set_value(model.count[...] + 1)
        return jnp.log(x) + model.kernel[...][jnp.array(5)]

    model = counter(lib)
    for form in (lib.checkify(step, errors=errors, **mode), lib.checkify(step, errors, **mode)):
        error, _ = form(model, jnp.array(-1.0))
        found = error.get()
        assert found is None if text is None else text in found
    assert count_of(model) == 2


@both
def test_only_the_users_checks_are_made_by_default(lib):
    error, result = lib.checkify(lambda m: jnp.log(-m.kernel[...]))(counter(lib))
    assert error.get() is None
    assert jnp.isnan(result).all()


@both
@all_modes
def test_a_check_that_nobody_took_is_an_error(lib, mode):
    model = counter(lib)
    with pytest.raises(ValueError, match="functionaliz"):
        lib.jit(checked, **mode)(model, jnp.array(1.0))
    assert count_of(model) == 0
