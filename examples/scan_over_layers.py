"""Twelve equal layers as one stack, run by a loop that is compiled once.

Run ``python -m examples.scan_over_layers``. `nnx.vmap` builds the stack: a block whose arrays have
a first axis that counts the layers. `nnx.scan` runs over that axis, so that the program, and the
time to compile it, does not grow with the depth; `nnx.remat` keeps the outputs of the layers and
computes again what is between them when the gradient needs it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import optax

import typed_nnx as nnx

WIDTH, DEPTH = 32, 12
INPUTS, ROWS = 8, 64


class Block(nnx.Module):
    """A residual layer with two maps: float [batch, width]."""

    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.norm = nnx.LayerNorm(WIDTH, rngs=rngs)
        self.grow = nnx.Linear(WIDTH, 2 * WIDTH, rngs=rngs)
        self.shrink = nnx.Linear(2 * WIDTH, WIDTH, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return x + self.shrink(nnx.gelu(self.grow(self.norm(x))))


@nnx.vmap
def build_layers(rngs: nnx.Rngs) -> Block:
    """Return one block, which is the stack where `rngs` has an axis of layers."""
    return Block(rngs=rngs)


@nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
@nnx.remat
def run_layers(x: jax.Array, block: Block) -> jax.Array:
    """Run a layer: float [batch, width]; and, by the scan, all of the stack."""
    return block(x)


class Deep(nnx.Module):
    """A stack between two maps: float [batch, inputs] to float [batch]."""

    def __init__(self, depth: int = DEPTH, *, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(INPUTS, WIDTH, rngs=rngs)
        self.layers = build_layers(rngs.split(depth))
        self.last = nnx.Linear(WIDTH, 1, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.last(run_layers(self.first(x), self.layers))[:, 0]

    def by_hand(self, x: jax.Array) -> jax.Array:
        """Do the same with a Python loop: a program that is as long as the model is deep."""
        x = self.first(x)
        graphdef, stack = nnx.split(self.layers)
        for number in range(len(stack["norm"]["scale"][...])):
            layer = nnx.merge(graphdef, jax.tree.map(lambda array, n=number: array[n], stack))
            x = layer(x)
        return self.last(x)[:, 0]


def loss_of(model: Deep, x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the mean squared error, float []."""
    return ((model(x) - y) ** 2).mean()


@nnx.jit
def train_step(
    model: Deep, optimizer: nnx.Optimizer[Deep], x: jax.Array, y: jax.Array
) -> jax.Array:
    """Take a step, and return the loss before it."""
    loss: jax.Array
    loss, slopes = nnx.value_and_grad(loss_of)(model, x, y)
    optimizer.update(model, slopes)
    return loss


def draw_batch(rng: np.random.Generator) -> tuple[jax.Array, jax.Array]:
    """Return inputs, float [batch, inputs], and a smooth function of theirs, float [batch]."""
    x = rng.normal(size=(ROWS, INPUTS)).astype(np.float32)
    return jnp.asarray(x), jnp.asarray(np.sin(x[:, 0] * x[:, 1]) + 0.5 * x[:, 2])


def train(steps: int, depth: int = DEPTH, seed: int = 0) -> tuple[Deep, list[float]]:
    """Return a trained model, and the losses of the steps."""
    model = Deep(depth, rngs=nnx.Rngs(seed))
    optimizer = nnx.Optimizer(model, optax.adam(2e-3), wrt=nnx.Param)
    rng = np.random.default_rng(seed)
    losses = [train_step(model, optimizer, *draw_batch(rng)) for _ in range(steps)]
    return model, [float(loss) for loss in losses]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and print how long the gradient takes to compile as a scan and as a Python loop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--depth", type=int, default=DEPTH)
    chosen = parser.parse_args(arguments)
    model, losses = train(chosen.steps, chosen.depth)
    print(
        f"squared error: {np.mean(losses[:20]):.3f} at first, {np.mean(losses[-20:]):.3f} at last"
    )
    x, _ = draw_batch(np.random.default_rng(1))
    for name, forward in (("scan", Deep.__call__), ("Python loop", Deep.by_hand)):
        started = time.perf_counter()
        nnx.jit(nnx.grad(lambda model, forward=forward: forward(model, x).sum())).lower(
            model
        ).compile()
        print(
            f"gradient of {chosen.depth} layers by {name}: {time.perf_counter() - started:.2f} s to compile"
        )


if __name__ == "__main__":
    main()
