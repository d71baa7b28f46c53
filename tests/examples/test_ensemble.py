"""The members of an ensemble train as they would alone."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import typed_nnx as nnx
from examples import ensemble
from examples.ensemble import MEMBERS, Network, build_members, predict_all, train_step


def batch(number: int) -> tuple[jax.Array, jax.Array]:
    x = jnp.linspace(-1.0, 1.0, 8)[:, None] + 0.1 * number
    return x, jnp.sin(2 * x)


def member(members: Network, number: int) -> Network:
    """Return one member, as a network of its own."""
    graphdef, state = nnx.split(members)
    return nnx.merge(graphdef, jax.tree.map(lambda array: array[number], state))


@pytest.mark.thorough
def test_members_start_from_different_parameters() -> None:
    members, _ = build_members(0)
    kernels = np.asarray(members.second.kernel[...])
    assert kernels.shape == (MEMBERS, ensemble.HIDDEN, ensemble.HIDDEN)
    assert len({kernel.tobytes() for kernel in kernels}) == MEMBERS


@pytest.mark.thorough
def test_a_member_trains_as_it_would_alone() -> None:
    members, optimizer = build_members(0)
    alone = member(members, 3)
    opt_state = (tx := optax.adam(3e-3)).init(nnx.to_pure_dict(nnx.state(alone, nnx.Param)))
    for number in range(5):
        x, y = batch(number)
        losses = train_step(members, optimizer, x, y)
        # The same by jax and optax alone.
        graphdef, state = nnx.split(alone)
        params = nnx.to_pure_dict(state)

        def loss_of(params, graphdef=graphdef, state=state, x=x, y=y):
            state = jax.tree.map(lambda array: array, state)
            nnx.replace_by_pure_dict(state, params)
            return ((nnx.merge(graphdef, state)(x) - y) ** 2).mean()

        loss, slopes = jax.value_and_grad(loss_of)(params)
        updates, opt_state = tx.update(slopes, opt_state, params)
        nnx.replace_by_pure_dict(state, optax.apply_updates(params, updates))
        nnx.update(alone, state)
        np.testing.assert_allclose(float(losses[3]), float(loss), rtol=2e-3)
    x, _ = batch(0)
    np.testing.assert_allclose(
        np.asarray(predict_all(members, x)[3]), np.asarray(alone(x)), rtol=2e-3, atol=2e-3
    )


@pytest.fixture(scope="module")
def trained() -> tuple[Network, np.ndarray]:
    return ensemble.train(250)


def test_all_members_learn(trained: tuple[Network, np.ndarray]) -> None:
    _, losses = trained
    assert losses.shape == (250, MEMBERS)
    assert (losses[-20:].mean(0) < 0.02).all()
    assert (losses[:3].mean(0) > 0.2).all()


def test_the_mean_of_the_members_errs_less_than_they_do_on_average(
    trained: tuple[Network, np.ndarray],
) -> None:
    x = jnp.linspace(*ensemble.SEEN, 101)[:, None]
    said, truth = np.asarray(predict_all(trained[0], x)), np.sin(2 * np.asarray(x))
    of_members = ((said - truth) ** 2).mean()
    of_mean = ((said.mean(0) - truth) ** 2).mean()
    np.testing.assert_allclose(of_members, of_mean + said.var(0).mean(), rtol=1e-3)
    assert of_mean < of_members


def test_members_disagree_where_there_were_no_data(trained: tuple[Network, np.ndarray]) -> None:
    inside = np.asarray(predict_all(trained[0], jnp.linspace(-1.5, 1.5, 31)[:, None]))
    outside = np.asarray(predict_all(trained[0], jnp.linspace(6.0, 9.0, 31)[:, None]))
    assert outside.std(0).mean() > 5 * inside.std(0).mean()


def test_the_program_prints_five_predictions(capsys: pytest.CaptureFixture[str]) -> None:
    ensemble.main(["--steps", "2"])
    said = capsys.readouterr().out
    assert said.count("(seen)") == 3
    assert said.count("(not seen)") == 2
