"""The games are played by their rules, and the player learns them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from examples import ppo
from examples.ppo import COLUMNS, GAMES, ROWS, Field, Moves, advantages, move, new_balls


def play_by(rule: str) -> tuple[float, int]:
    """Play one game in each place; return the mean reward, and how many games came to their end."""
    field, total, ends = new_balls(jax.random.key(0)), 0.0, 0
    for step in range(ROWS - 1):
        towards = jnp.sign(field.ball_column - field.hand) + 1
        action = towards if rule == "follow" else 2 - towards
        field, reward, over = move(field, action, jax.random.key(step))
        total, ends = total + float(reward.mean()), ends + int(over.sum())
    return total, ends


def test_who_follows_the_ball_catches_it_and_who_flees_does_not() -> None:
    assert play_by("follow") == (1.0, GAMES)
    reward, ends = play_by("flee")
    # Nowhere to flee from a ball above the middle, where the hand begins.
    middle = float((np.asarray(new_balls(jax.random.key(0)).ball_column) == COLUMNS // 2).mean())
    assert reward == pytest.approx(-1.0 + 2.0 * middle)
    assert ends == GAMES


def test_the_hand_stays_in_the_field_and_a_game_that_is_over_begins_anew() -> None:
    column = jnp.zeros(GAMES, jnp.int32)
    field = Field(column + ROWS - 2, column, column)
    after, reward, over = move(field, column, jax.random.key(5))
    np.testing.assert_array_equal(np.asarray(reward), 1.0)
    assert bool(over.all())
    fresh = new_balls(jax.random.key(5))
    for found, wanted in zip(after, fresh, strict=True):
        np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))


def test_advantages_are_the_discounted_sums_of_surprises() -> None:
    rng = np.random.default_rng(0)
    steps, games = 9, 4
    reward, value = rng.normal(size=(2, steps, games)).astype(np.float32)
    over, last = rng.random((steps, games)) < 0.3, rng.normal(size=games).astype(np.float32)
    unused = jnp.zeros((steps, games))
    moves = Moves(
        unused, unused, unused, jnp.asarray(value), jnp.asarray(reward), jnp.asarray(over)
    )

    following = np.concatenate([value[1:], last[None]])
    surprise = reward + ppo.DISCOUNT * following * ~over - value
    wanted = np.zeros((steps, games))
    for start in range(steps):
        goes_on = np.ones(games)
        for step in range(start, steps):
            weight = (ppo.DISCOUNT * ppo.SMOOTHING) ** (step - start)
            wanted[start] += goes_on * weight * surprise[step]
            goes_on = goes_on * ~over[step]
    found = advantages(moves, jnp.asarray(last))
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.thorough
def test_the_player_learns_to_catch() -> None:
    _, shares = ppo.train(60)
    assert np.mean(shares[:3]) < 0.35
    assert np.mean(shares[-5:]) > 0.9


@pytest.mark.thorough
def test_the_program_prints_its_progress(capsys: pytest.CaptureFixture[str]) -> None:
    ppo.main(["--steps", "2"])
    assert "of the balls caught" in capsys.readouterr().out
