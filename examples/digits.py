"""Train a small network on scikit-learn's handwritten digits, with modules and their transforms.

Run ``python -m examples.digits``, or ``make demo``. The layers are written here, on ``nnx.Module``
and ``nnx.Param``; the training step is a function under ``nnx.jit`` that changes the model in place.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
import optax
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits

import typed_nnx as nnx

EPOCHS = 30
BATCH = 64
HIDDEN = 128
CLASSES = 10


class Linear(nnx.Module):
    """An affine map of the last axis: float [batch, din] to float [batch, dout]."""

    def __init__(self, din: int, dout: int, *, rngs: nnx.Rngs) -> None:
        scale = math.sqrt(2.0 / din)
        self.kernel = nnx.Param(scale * jax.random.normal(rngs.params(), (din, dout)))
        self.bias = nnx.Param(jnp.zeros((1, dout)))

    def __call__(self, x: jax.Array) -> jax.Array:
        return x @ self.kernel[...] + self.bias[...]


class Calls(nnx.Variable[jax.Array]):
    """A count of calls: state that changes in the model, but not by gradients."""


class MLP(nnx.Module):
    """Two layers: images as float [batch, pixels] to logits as float [batch, classes]."""

    def __init__(self, pixels: int, hidden: int, classes: int, *, rngs: nnx.Rngs) -> None:
        self.hidden = Linear(pixels, hidden, rngs=rngs)
        self.out = Linear(hidden, classes, rngs=rngs)
        self.calls = Calls(jnp.array(0, jnp.int32))

    def __call__(self, x: jax.Array) -> jax.Array:
        self.calls[...] += 1
        return self.out(jax.nn.relu(self.hidden(x)))


class Digits(NamedTuple):
    """Images as float32 [n, 64] from 0 to 1, and labels as int32 [n] from 0 to 9."""

    images: jax.Array
    labels: jax.Array


class Scores(NamedTuple):
    """Mean loss in nats and the share of right answers, both float []."""

    loss: jax.Array
    accuracy: jax.Array


def load(rng: np.random.Generator) -> tuple[Digits, Digits]:
    """Return the data set, shuffled and parted: 80% for training, the rest for testing."""
    pixels, targets = load_digits(return_X_y=True)
    order = rng.permutation(len(targets))
    images = (pixels[order] / 16.0).astype(np.float32)
    labels = targets[order].astype(np.int32)
    border = int(0.8 * len(order))
    return (
        Digits(jnp.asarray(images[:border]), jnp.asarray(labels[:border])),
        Digits(jnp.asarray(images[border:]), jnp.asarray(labels[border:])),
    )


def scores(model: MLP, data: Digits) -> Scores:
    """Return the model's loss and accuracy on the data."""
    logits = model(data.images)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, data.labels).mean()
    return Scores(loss, (logits.argmax(-1) == data.labels).mean())


class Training:
    """A model under training, the compiled step, and the optimizer's state."""

    def __init__(self, model: MLP, optimizer: optax.GradientTransformation) -> None:
        self.model = model
        self.opt_state = optimizer.init(nnx.state(model, nnx.Param))

        @nnx.jit
        def step(
            model: MLP, opt_state: optax.OptState, batch: Digits
        ) -> tuple[Scores, optax.OptState]:
            def loss_fn(model: MLP) -> tuple[jax.Array, Scores]:
                result = scores(model, batch)
                return result.loss, result

            grads, result = nnx.grad(loss_fn, has_aux=True)(model)
            updates, opt_state = optimizer.update(grads, opt_state)
            params = optax.apply_updates(nnx.state(model, nnx.Param), updates)
            # optax gives every tree one and the same type.
            nnx.update(model, cast("nnx.State", params))
            return result, opt_state

        self._step = step

    def epoch(self, data: Digits, order: np.ndarray) -> Scores:
        """Run over the data once, update the model, and return the mean scores of the batches."""
        batches = []
        for start in range(0, len(order) - BATCH + 1, BATCH):
            rows = order[start : start + BATCH]
            batch = Digits(data.images[rows], data.labels[rows])
            result, self.opt_state = self._step(self.model, self.opt_state, batch)
            batches.append(result)
        loss, accuracy = (jnp.stack(of_batches).mean() for of_batches in zip(*batches, strict=True))
        return Scores(loss, accuracy)


def main() -> None:
    """Train, and print a table of the scores and the State of the last layer."""
    started = time.perf_counter()
    rng = np.random.default_rng(0)
    train, test = load(rng)
    model = MLP(train.images.shape[-1], HIDDEN, CLASSES, rngs=nnx.Rngs(0))
    training = Training(model, optax.adam(3e-3))

    table = Table(title=f"handwritten digits: {len(train.labels)} train, {len(test.labels)} test")
    for name in ("epoch", "train loss", "train accuracy", "test loss", "test accuracy"):
        table.add_column(name, justify="right")
    for epoch in range(1, EPOCHS + 1):
        seen = training.epoch(train, rng.permutation(len(train.labels)))
        if epoch == 1 or epoch % 5 == 0:
            unseen = scores(model, test)
            row = (f"{seen.loss:.4f}", f"{seen.accuracy:.1%}", f"{unseen.loss:.4f}")
            table.add_row(str(epoch), *row, f"{unseen.accuracy:.1%}")

    console = Console()
    console.print(table)
    console.print("[bold]nnx.state(model.out)[/bold], the State of the last layer:")
    print(nnx.state(model.out))
    console.print(f"{model.calls[...]} calls of the model in {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
