"""Learning by trial: a policy learns to catch a falling ball, by proximal policy optimization.

Run ``python -m examples.ppo``. Many games run side by side on the device. `nnx.scan` plays them with
the model as one of its arguments, then the same model is moved towards what went better than it
had expected.

Source: Schulman et al., "Proximal policy optimization algorithms", https://arxiv.org/abs/1707.06347.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

import typed_nnx as nnx

ROWS, COLUMNS = 8, 5  # of the field
GAMES, MOVES = 64, 28  # played side by side, and in a row between two updates
EPOCHS = 4  # of updates for each round of moves
DISCOUNT, SMOOTHING, CLIP, ENTROPY = 0.97, 0.95, 0.2, 0.01
HIDDEN = 64


class Field(NamedTuple):
    """The state of the games, int32 [games] each: the ball falls, the hand moves in the last row."""

    ball_row: jax.Array
    ball_column: jax.Array
    hand: jax.Array

    def seen(self) -> jax.Array:
        """Return what a player sees, float [games, 8 + 5 + 5]."""
        parts = ((self.ball_row, ROWS), (self.ball_column, COLUMNS), (self.hand, COLUMNS))
        return jnp.concatenate([jax.nn.one_hot(where, count) for where, count in parts], axis=-1)


def new_balls(key: jax.Array) -> Field:
    """Return games at their start, with the ball anywhere in the first row."""
    column = jax.random.randint(key, (GAMES,), 0, COLUMNS)
    return Field(jnp.zeros_like(column), column, jnp.full_like(column, COLUMNS // 2))


def move(field: Field, action: jax.Array, key: jax.Array) -> tuple[Field, jax.Array, jax.Array]:
    """Move the hands by the actions, 0 for left to 2 for right, and let the balls fall by a row.

    Returns: the next state, the reward (1 for a ball caught, -1 for one lost, else 0), float
    [games], and whether a game is over, bool [games]; then it begins anew.
    """
    hand = jnp.clip(field.hand + action - 1, 0, COLUMNS - 1)
    row = field.ball_row + 1
    over = row == ROWS - 1
    reward = jnp.where(over, jnp.where(hand == field.ball_column, 1.0, -1.0), 0.0)
    moved = Field(row, field.ball_column, hand)
    after = jax.tree.map(lambda new, old: jnp.where(over, new, old), new_balls(key), moved)
    return after, reward, over


class Player(nnx.Module):
    """Maps what is seen, float [batch, 18], to logits [batch, 3] and the expected return [batch]."""

    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.hidden = nnx.Linear(ROWS + 2 * COLUMNS, HIDDEN, rngs=rngs)
        self.action = nnx.Linear(HIDDEN, 3, rngs=rngs)
        self.value = nnx.Linear(HIDDEN, 1, rngs=rngs)

    def __call__(self, seen: jax.Array) -> tuple[jax.Array, jax.Array]:
        x = nnx.tanh(self.hidden(seen))
        return self.action(x), self.value(x)[:, 0]


class Moves(NamedTuple):
    """What was seen, done and met; the first axes are [moves, games]."""

    seen: jax.Array
    action: jax.Array
    log_probability: jax.Array
    value: jax.Array
    reward: jax.Array
    over: jax.Array


def log_probabilities(logits: jax.Array, action: jax.Array) -> jax.Array:
    """Return the logarithm of the probability of each action, float [batch]."""
    surprise: jax.Array = optax.softmax_cross_entropy_with_integer_labels(logits, action)
    return -surprise


@nnx.scan(in_axes=(nnx.Carry, None, 0), out_axes=(nnx.Carry, 0))
def play_moves(field: Field, player: Player, key: jax.Array) -> tuple[Field, Moves]:
    """Let the player make a move in every game; and, by the scan, one for each of the keys."""
    for_action, for_balls = jax.random.split(key)
    seen = field.seen()
    logits, value = player(seen)
    action = jax.random.categorical(for_action, logits)
    after, reward, over = move(field, action, for_balls)
    return after, Moves(seen, action, log_probabilities(logits, action), value, reward, over)


@nnx.jit
def play(player: Player, field: Field, key: jax.Array) -> tuple[Field, Moves, jax.Array]:
    """Play a round, and return the games as they stand, the moves, and the value of what is next."""
    field, moves = play_moves(field, player, jax.random.split(key, MOVES))
    _, value = player(field.seen())
    return field, moves, value


def advantages(moves: Moves, value_after: jax.Array) -> jax.Array:
    """Return how much better it went than expected, float [moves, games].

    Source: Schulman et al., "High-dimensional continuous control using generalized advantage
    estimation", https://arxiv.org/abs/1506.02438.
    """

    def before(
        later: tuple[jax.Array, jax.Array], now: Moves
    ) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
        advantage, next_value = later
        goes_on = DISCOUNT * (1.0 - now.over)
        advantage = now.reward + goes_on * (next_value + SMOOTHING * advantage) - now.value
        return (advantage, now.value), advantage

    start = (jnp.zeros_like(value_after), value_after)
    _, found = jax.lax.scan(before, start, moves, reverse=True)
    return found


def loss_of(player: Player, moves: Moves, advantage: jax.Array) -> jax.Array:
    """Return what an update makes smaller, float []; here the first axis is [moves * games]."""
    logits, value = player(moves.seen)
    ratio = jnp.exp(log_probabilities(logits, moves.action) - moves.log_probability)
    scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    gain = jnp.minimum(ratio * scaled, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * scaled)
    surprise = (value - (moves.value + advantage)) ** 2
    entropy = -(jax.nn.softmax(logits) * jax.nn.log_softmax(logits)).sum(-1)
    return (0.5 * surprise - gain - ENTROPY * entropy).mean()


@nnx.jit
def improve(
    player: Player, optimizer: nnx.Optimizer[Player], moves: Moves, value_after: jax.Array
) -> None:
    """Update the player by the moves of a round."""
    advantage = advantages(moves, value_after)
    moves, advantage = jax.tree.map(lambda a: a.reshape(-1, *a.shape[2:]), (moves, advantage))
    for _ in range(EPOCHS):
        optimizer.update(player, nnx.grad(loss_of)(player, moves, advantage))


def caught(moves: Moves) -> float:
    """Return the share of the balls of a round that were caught, from 0 to 1."""
    reward, over = np.asarray(moves.reward), np.asarray(moves.over)
    return float((reward[over] > 0).mean())


def train(steps: int, seed: int = 0) -> tuple[Player, list[float]]:
    """Return a trained player, and the share of balls that were caught in each round."""
    player = Player(rngs=nnx.Rngs(seed))
    optimizer = nnx.Optimizer(player, optax.adam(3e-3), wrt=nnx.Param)
    rngs = nnx.Rngs(seed + 1)
    field = new_balls(rngs())
    shares = []
    for _ in range(steps):
        field, moves, value_after = play(player, field, rngs())
        improve(player, optimizer, moves, value_after)
        shares.append(caught(moves))
    return player, shares


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and print how many balls are caught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    _, shares = train(parser.parse_args(arguments).steps)
    for step in range(0, len(shares), max(1, len(shares) // 10)):
        print(f"round {step:4}: {shares[step]:6.1%} of the balls caught")
    print(f"round {len(shares) - 1:4}: {shares[-1]:6.1%} of the balls caught")


if __name__ == "__main__":
    main()
