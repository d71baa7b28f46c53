"""`remat`: the same values, gradients and updates as the plain function, with less kept."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.ad_checkpoint import checkpoint_name

from tests.core.libraries import both
from tests.transforms.jit_models import count_of, counter, numbers, same_contents
from tests.transforms.modes import all_modes


def wave(model, x=1.0):
    """Count a call and give sin(x * kernel)."""
    model.count[...] += 1
    return jnp.sin(checkpoint_name(model.kernel[...] * x, "product"))


@both
@all_modes
@pytest.mark.parametrize(
    "call",
    [
        lambda remat, m: remat(wave)(m, 2.0),
        lambda remat, m: remat(wave)(m, x=2.0),
        lambda remat, m: remat(wave)(model=m, x=2.0),
        lambda remat, m: remat()(wave)(m, 2.0),
        lambda remat, m: remat(prevent_cse=False)(wave)(m, 2.0),
        lambda remat, m: remat(lambda d: wave(d["m"][0], d["x"]))({"m": [m], "x": 2.0}),
        lambda remat, m: remat(remat(wave))(m, 2.0),
    ],
    ids=["plain", "keyword", "keyword_model", "called", "options", "nested_data", "twice"],
)
def test_remat_gives_the_values_and_updates_of_the_plain_function(lib, mode, call):
    model, plain = counter(lib), counter(lib)
    result = call(functools.partial(lib.remat, **mode), model)
    np.testing.assert_allclose(result, wave(plain, 2.0), rtol=1e-6)
    assert same_contents(lib, model, plain)


def saved(lib, mode, **options):
    """Count the elements that the backward pass of two waves keeps."""

    def loss(kernel, x):
        model = counter(lib)
        model.kernel.set_value(kernel)
        return wave(model, lib.remat(wave, **options, **mode)(model, x)).sum()

    _, backward = jax.vjp(loss, jnp.ones(3), jnp.ones(3))
    return sum(leaf.size for leaf in jax.tree.leaves(backward))


@both
@all_modes
def test_a_policy_decides_what_is_kept(lib, mode):
    policies = jax.checkpoint_policies
    nothing = saved(lib, mode)
    everything = saved(lib, mode, policy=policies.everything_saveable)
    named = saved(lib, mode, policy=policies.save_only_these_names("product"))
    assert nothing < named <= everything
    assert saved(lib, mode, policy=policies.nothing_saveable) == nothing


@both
@all_modes
@pytest.mark.parametrize("prevent", [True, False])
def test_the_options_reach_jax(lib, mode, prevent):
    policy = jax.checkpoint_policies.dots_saveable

    def call(x):
        return lib.remat(jnp.sin, prevent_cse=prevent, policy=policy, **mode)(x)

    (equation,) = jax.make_jaxpr(call)(1.0).eqns
    (plain,) = jax.make_jaxpr(jax.checkpoint(jnp.sin, policy=policy))(1.0).eqns
    assert equation.params["prevent_cse"] is prevent
    assert str(equation.params["policy"]) == str(plain.params["policy"]) != "None"


@both
@all_modes
def test_static_arguments_count_self(lib: Any, mode: Any) -> None:
    class Model(lib.Module):
        def __init__(self):
            self.count = lib.BatchStat(jnp.array(0))

        @lib.remat(static_argnums=1, **mode)
        def repeat(self, k):
            assert type(k) is int
            self.count[...] += k
            return k * jnp.ones(2)

        @lib.remat(static_argnums=(2, -1), **mode)
        def last(self, x, how):
            self.count[...] += len(how)
            return x

    model = Model()
    assert numbers(model.repeat(3)) == [3, 3]
    assert numbers(model.last(1.0, "four")) == 1
    assert count_of(model) == 7


@both
@all_modes
def test_static_arguments_that_do_not_exist_are_errors(lib, mode):
    model = counter(lib)
    with pytest.raises(ValueError, match="static_argnums"):
        lib.remat(wave, static_argnums=7, **mode)(model, 1.0)
    assert count_of(model) == 0


# -- what an eager call sees besides its arguments -------------------------------------------------
