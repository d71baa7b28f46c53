"""Several networks trained at once, as one network whose arrays have one more axis.

Run ``python -m examples.ensemble``. `nnx.vmap` builds the members, each with random numbers of its
own, and trains them together. Where they saw data they agree; elsewhere they do not, and that says
how much to trust them.

Source: Lakshminarayanan et al., "Simple and scalable predictive uncertainty estimation using deep
ensembles", https://arxiv.org/abs/1612.01474.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import optax

import typed_nnx as nnx

MEMBERS, HIDDEN = 8, 64
SEEN = (-2.0, 2.0)  # where the data lie
NOISE = 0.05


class Network(nnx.Module):
    """A function of one number: float [batch, 1] to float [batch, 1]."""

    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(1, HIDDEN, rngs=rngs)
        self.second = nnx.Linear(HIDDEN, HIDDEN, rngs=rngs)
        self.last = nnx.Linear(HIDDEN, 1, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.last(nnx.tanh(self.second(nnx.tanh(self.first(x)))))


def build(rngs: nnx.Rngs) -> tuple[Network, nnx.Optimizer[Network]]:
    """Return a network and its optimizer."""
    network = Network(rngs=rngs)
    return network, nnx.Optimizer(network, optax.adam(3e-3), wrt=nnx.Param)


def build_members(seed: int) -> tuple[Network, nnx.Optimizer[Network]]:
    """Return all networks in one: the first axis of each array counts the members."""
    return nnx.vmap(build)(nnx.Rngs(seed).split(MEMBERS))


def predict(network: Network, x: jax.Array) -> jax.Array:
    """Return what a network says, float [batch, 1]."""
    return network(x)


predict_all = nnx.jit(nnx.vmap(predict, in_axes=(0, None)))
"""Return what each member says, float [members, batch, 1]."""


@nnx.jit
@nnx.vmap(in_axes=(0, 0, None, None))
def train_step(
    network: Network, optimizer: nnx.Optimizer[Network], x: jax.Array, y: jax.Array
) -> jax.Array:
    """Move each member on the same batch, and return their losses, float [members]."""

    def loss_of(network: Network) -> jax.Array:
        return ((network(x) - y) ** 2).mean()

    loss: jax.Array
    loss, slopes = nnx.value_and_grad(loss_of)(network)
    optimizer.update(network, slopes)
    return loss


def train(steps: int, seed: int = 0) -> tuple[Network, np.ndarray]:
    """Return the trained members, and their losses as float [steps, members]."""
    members, optimizer = build_members(seed)
    rng = np.random.default_rng(seed)
    losses = []
    for _ in range(steps):
        x = rng.uniform(*SEEN, size=(64, 1)).astype(np.float32)
        y = np.sin(2 * x) + NOISE * rng.normal(size=x.shape).astype(np.float32)
        losses.append(train_step(members, optimizer, jnp.asarray(x), jnp.asarray(y)))
    return members, np.asarray(jnp.stack(losses))


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and print what the members say inside and outside the data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    members, losses = train(parser.parse_args(arguments).steps)
    print(f"squared errors of the members: {np.round(losses[-1], 4)}")
    for x in (-1.0, 0.0, 1.0, 4.0, 8.0):
        said = np.asarray(predict_all(members, jnp.array([[x]])))
        known = "seen" if SEEN[0] <= x <= SEEN[1] else "not seen"
        print(
            f"sin({2 * x:5.1f}) = {np.sin(2 * x):6.3f}: {said.mean():6.3f} +- {said.std():.3f} ({known})"
        )


if __name__ == "__main__":
    main()
