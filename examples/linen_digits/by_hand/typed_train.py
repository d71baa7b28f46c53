"""Trains a reader of digits as `train` does: a model and its optimizer, and no TrainState.

Written by hand after the migration: mypy and editors know what `model` and `grads` have.
"""

from collections.abc import Callable, Iterable

import jax
import jax.numpy as jnp
import optax

import typed_nnx as nnx

from .models import DigitReader
from .train import Batch, Report, accuracy_of


class Training(nnx.ModelAndOptimizer[DigitReader]):
    """What a step changes, and the key that dropout draws from."""

    def __init__(self, steps: int) -> None:
        """Start from random parameters, for a number of steps."""
        model = DigitReader(in_features=1, rngs=nnx.Rngs(0))
        schedule = optax.warmup_cosine_decay_schedule(0.0, 3e-3, steps // 10, steps)
        super().__init__(model, optax.adamw(schedule), wrt=nnx.Param)
        self.key = jax.random.key(1)


@nnx.jit
def train_step(training: Training, batch: Batch) -> tuple[jax.Array, jax.Array]:
    """Move down the slope of the loss; return the loss and the accuracy before."""
    images, labels = map(jnp.asarray, batch)

    def loss_fn(model: DigitReader) -> tuple[jax.Array, jax.Array]:
        logits = model(images, train=True)
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
        return jnp.mean(losses), logits

    # The keys that `train` gives to dropout, so that both have equal losses.
    nnx.reseed(training.model, default=jax.random.fold_in(training.key, training.step[...]))
    (loss, logits), grads = nnx.value_and_grad(loss_fn, has_aux=True)(training.model)
    training.update(grads)
    return loss, accuracy_of(logits, labels)


@nnx.jit
def predict(model: DigitReader, images: jax.Array) -> jax.Array:
    """Return the logits, without dropout and with the running means of BatchNorm."""
    return model(images)


def fit(
    epochs: int, steps: int, batches: Callable[[], Iterable[Batch]], test: Batch, report: Report
) -> DigitReader:
    """Train for epochs of so many steps, and report each; `batches` returns those of one epoch."""
    images, labels = map(jnp.asarray, test)
    training = Training(epochs * steps)
    for _ in range(epochs):
        losses, accuracies = [], []
        for batch in batches():
            loss, accuracy = train_step(training, batch)
            losses.append(float(loss))
            accuracies.append(float(accuracy))
        unseen = accuracy_of(predict(training.model, images), labels)
        report(losses, sum(accuracies) / len(accuracies), float(unseen))
    return training.model
