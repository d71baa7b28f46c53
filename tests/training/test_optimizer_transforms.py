"""Optimizers inside transforms: jit, donation, vmap, scan, and with trees asserted."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.training.models import batch, both, modes, network, train_step

STEPS = 3


def alone(lib: Any, seed: int = 0) -> tuple[list[Any], Any, Any]:
    """Train one network step by step, without a transform around."""
    model = network(lib, seed)
    opt = lib.Optimizer(model, optax.adam(0.1), wrt=lib.Param)
    losses = [np.asarray(train_step(lib)(model, opt, batch(n))) for n in range(STEPS)]
    return losses, model, opt


def close(found: Any, wanted: Any) -> None:
    """Compare two trees of arrays within the rounding of float32 and bfloat16."""
    ours, theirs = jax.tree.leaves(found), jax.tree.leaves(wanted)
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        tolerance = 1e-2 if mine.dtype == jnp.bfloat16 else 2e-5
        np.testing.assert_allclose(
            np.asarray(mine, np.float32), np.asarray(other, np.float32), tolerance, tolerance
        )


@both
def test_model_and_optimizer_may_be_donated(lib: Any) -> None:
    _, model, opt = alone(lib)
    donated = network(lib)
    other = lib.Optimizer(donated, optax.adam(0.1), wrt=lib.Param)
    step = lib.jit(train_step(lib), donate_argnums=(0, 1))
    for n in range(STEPS):
        weight, moment = donated.scale.get_raw_value(), other.opt_state[0].mu["scale"][...]
        step(donated, other, batch(n))
        assert weight.is_deleted()
        assert moment.is_deleted()
    close(lib.state(donated), lib.state(model))
    close(lib.state(other), lib.state(opt))


@pytest.mark.thorough
@both
@modes
def test_an_ensemble_is_trained_by_vmap(lib: Any, graph: bool) -> None:
    tx = optax.adam(0.1)
    with lib.set_graph_mode(graph):
        members = [alone(lib, seed) for seed in (0, 1)]
        # Networks of several seeds, stacked.
        first, second = (network(lib, seed) for seed in (0, 1))
        graphdef, state = lib.split(first)
        stacked = lib.merge(
            graphdef, jax.tree.map(lambda *v: jnp.stack(v), state, lib.split(second)[1])
        )
        opt = lib.vmap(lambda model: lib.Optimizer(model, tx, wrt=lib.Param))(stacked)
        step = lib.jit(lib.vmap(train_step(lib), in_axes=(0, 0, None)))
        losses = [np.asarray(step(stacked, opt, batch(n))) for n in range(STEPS)]
        assert opt.step[...].tolist() == [STEPS, STEPS]
        for number, (wanted, model, other) in enumerate(members):
            np.testing.assert_allclose([both[number] for both in losses], wanted, 2e-5)

            def member(leaf: Any, number: int = number) -> Any:
                return leaf[number]

            close(jax.tree.map(member, lib.state(stacked)), lib.state(model))
            close(jax.tree.map(member, lib.state(opt)), lib.state(other))


@both
def test_steps_are_scanned(lib: Any) -> None:
    losses, model, opt = alone(lib)
    scanned = network(lib)
    other = lib.Optimizer(scanned, optax.adam(0.1), wrt=lib.Param)

    def body(pair: Any, x: jax.Array) -> Any:
        model, opt = pair
        return pair, train_step(lib)(model, opt, x)

    run = lib.scan(body, in_axes=(lib.Carry, 0), out_axes=(lib.Carry, 0))
    _, found = run((scanned, other), jnp.stack([batch(n) for n in range(STEPS)]))
    np.testing.assert_allclose(found, losses, 2e-5)
    close(lib.state(scanned), lib.state(model))
    close(lib.state(other), lib.state(opt))


@both
def test_a_model_with_its_optimizer_goes_through_jit(lib: Any) -> None:
    losses, model, _ = alone(lib)
    both_in_one = lib.ModelAndOptimizer(network(lib), optax.adam(0.1))

    @lib.jit
    def step(opt: Any, x: jax.Array) -> Any:
        value, grads = lib.value_and_grad(lambda m: jnp.square(m(x)).mean())(opt.model)
        opt.update(grads)
        return value

    found = [np.asarray(step(both_in_one, batch(n))) for n in range(STEPS)]
    np.testing.assert_allclose(found, losses, 2e-5)
    close(lib.state(both_in_one.model), lib.state(model))


@both
def test_only_chosen_variables_are_differentiated_and_updated(lib: Any) -> None:
    wrt = lib.All(lib.Param, lib.PathContains("head"))
    model = network(lib)
    before = model.layers[0].w.get_raw_value()
    opt = lib.Optimizer(model, optax.adam(0.1), wrt=wrt)

    @lib.jit
    def step(model: Any, opt: Any) -> None:
        where = lib.DiffState(0, wrt)
        grads = lib.grad(lambda m: jnp.square(m(batch())).mean(), argnums=where)(model)
        opt.update(model, grads)

    step(model, opt)
    assert np.array_equal(model.layers[0].w[...], before)
    assert list(opt.opt_state[0].mu) == ["head"]
    assert not np.array_equal(model.head.out.w[...], network(lib).head.out.w[...])
