"""`split_inputs` and `merge_inputs`, the two halves of a lifted function, in flax and here."""

from __future__ import annotations

import typing as tp

import flax.nnx.transforms.general
import jax
import jax.numpy as jnp
import pytest

import typed_nnx
import typed_nnx.transforms.general

general_of = {typed_nnx: typed_nnx.transforms.general, flax.nnx: flax.nnx.transforms.general}
both = pytest.mark.parametrize("nnx", general_of, ids=["ours", "flax"])


@both
def test_changes_inside_jit_and_cond_reach_the_objects(nnx: tp.Any) -> None:
    general = general_of[nnx]
    counter = nnx.Dict(count=nnx.Variable(jnp.array(0)), log=nnx.List([]))

    @general.merge_inputs
    def add(counter: tp.Any, amount: tp.Any) -> tp.Any:
        counter.count[...] += amount
        return counter.count * 10

    @general.merge_inputs
    def keep(counter: tp.Any, amount: tp.Any) -> tp.Any:
        return counter.count * 10

    assert general.split_inputs(jax.jit(add))(counter, 2) == 20
    for wanted, total in ((True, 5), (False, 5)):
        found = general.split_inputs(jax.lax.cond)(wanted, add, keep, counter, 3)
        assert (found, counter.count[...]) == (total * 10, total)


@both
def test_objects_are_made_changed_and_returned(nnx: tp.Any) -> None:
    general = general_of[nnx]
    model = nnx.Dict(a=nnx.Param(jnp.array(1.0)), b=nnx.Param(jnp.array(2.0)))
    a = model.a

    @general.split_inputs(ctxtag="pair")
    @jax.jit
    @general.merge_inputs(ctxtag="pair")
    def swap(model: tp.Any) -> tp.Any:
        model.a, model.b = model.b, model.a
        return model, nnx.Dict(c=nnx.Param(model.a[...] + 1))

    same, new = swap(model)
    assert same is model
    assert model.b is a
    assert new.c[...] == 3.0


@both
def test_out_axes_are_those_of_the_arguments_and_the_result(nnx: tp.Any) -> None:
    general = general_of[nnx]
    env = nnx.Dict(step=nnx.Variable(jnp.zeros(4)))
    scale = nnx.Param(jnp.array(3.0))

    def advance(env: tp.Any, scale: tp.Any) -> tp.Any:
        env.step[...] += scale[...]
        return env.step[...] * 2

    in_axes = (0, None)
    mapped = jax.vmap(general.merge_inputs(advance), in_axes=in_axes, out_axes=(in_axes, 0))
    found = general.split_inputs(mapped)(env, scale)
    assert found.tolist() == [6.0] * 4
    assert env.step[...].tolist() == [3.0] * 4
