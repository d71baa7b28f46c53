"""A training run: model, optimizer and metrics, and the compiled steps that change them in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

import typed_nnx as nnx
from examples.digits.data import NOBODY, Digits, batches, filled
from examples.digits.layout import Layout
from examples.digits.models import Classifier

ROWS = 48  # of a batch: a multiple of 1, 2, 4, 8 and 16 devices

Build = Callable[[nnx.Rngs], Classifier]


class Scores(NamedTuple):
    """Mean loss in nats, and the share of right answers from 0 to 1."""

    loss: float
    accuracy: float


def losses_of(logits: jax.Array, labels: jax.Array) -> jax.Array:
    """Return the cross entropy of each row in nats, float [n]."""
    labels = jnp.maximum(labels, 0)  # rows of nobody count nowhere
    losses: jax.Array = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
    return losses


def train_step(
    model: Classifier,
    optimizer: nnx.Optimizer[Classifier],
    metrics: nnx.MultiMetric,
    images: jax.Array,
    labels: jax.Array,
) -> jax.Array:
    """Move the model one step down the slope of the loss, and return the loss before."""

    def loss_of(model: Classifier) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        logits = model(images)
        losses = losses_of(logits, labels)
        return losses.mean(), (losses, logits)

    loss: jax.Array
    (loss, (losses, logits)), slopes = nnx.value_and_grad(loss_of, has_aux=True)(model)
    optimizer.update(model, slopes)
    metrics.update(loss=losses, logits=logits, labels=labels)
    return loss


def test_step(
    model: Classifier, metrics: nnx.MultiMetric, images: jax.Array, labels: jax.Array
) -> None:
    """Add a batch to the metrics, without the rows of nobody."""
    logits = model(images)
    losses = losses_of(logits, labels)
    metrics.update(loss=losses, logits=logits, labels=labels, mask=labels != NOBODY)


class Run:
    """A model in training. All arrays are laid out by `layout`, from the first one on."""

    def __init__(self, build: Build, layout: Layout, *, steps: int, rate: float, seed: int) -> None:
        schedule = optax.warmup_cosine_decay_schedule(0.0, rate, steps // 10, steps)
        everywhere, by_row = layout.everywhere, layout.by_row

        def start() -> tuple[Classifier, nnx.Optimizer[Classifier], nnx.MultiMetric]:
            model = build(nnx.Rngs(seed))
            optimizer = nnx.Optimizer(model, optax.adamw(schedule), wrt=nnx.Param)
            accuracy = nnx.metrics.Accuracy()
            metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"), accuracy=accuracy)
            return model, optimizer, metrics

        self.layout = layout
        self.model, self.optimizer, self.metrics = nnx.jit(start, out_shardings=everywhere)()
        self.losses: list[jax.Array] = []
        self._train_step = nnx.jit(
            train_step, in_shardings=(everywhere, everywhere, everywhere, by_row, by_row)
        )
        self._test_step = nnx.jit(test_step, in_shardings=(everywhere, everywhere, by_row, by_row))

    def _scores(self) -> Scores:
        found = self.metrics.compute()
        self.metrics.reset()
        return Scores(float(found["loss"]), float(found["accuracy"]))

    def train(self, data: Digits, rng: np.random.Generator) -> Scores:
        """Run over the data once, and return the scores of the batches as they were met."""
        spread = self.layout.spread
        for images, labels in batches(data, ROWS, rng):
            rows = spread(images), spread(labels)
            loss = self._train_step(self.model, self.optimizer, self.metrics, *rows)
            self.losses.append(loss)
        return self._scores()

    def test(self, data: Digits) -> Scores:
        """Return the scores on the data, without dropout."""
        images, labels = filled(data, self.layout.devices)
        model = nnx.view(self.model, deterministic=True)
        self._test_step(model, self.metrics, self.layout.spread(images), self.layout.spread(labels))
        return self._scores()
