"""Trains a reader of digits."""

from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax.training import train_state
from jax.typing import ArrayLike

from .models import DigitReader

# Images as float [batch, 8, 8, 1] from 0 to 1, and labels as int [batch] from 0 to 9.
Batch = tuple[ArrayLike, ArrayLike]
# Takes the loss of each batch of an epoch in nats, and the shares of right answers from 0 to 1
# on these batches and on unseen images.
Report = Callable[[list[float], float, float], None]


class TrainState(train_state.TrainState):
    """What a step changes, and the key that dropout draws from."""

    batch_stats: Any
    key: jax.Array


def create_state(images: jax.Array, steps: int) -> TrainState:
    """Start from random parameters, for a number of steps."""
    model = DigitReader()
    variables = jax.jit(model.init)(jax.random.key(0), images)
    schedule = optax.warmup_cosine_decay_schedule(0.0, 3e-3, steps // 10, steps)
    return TrainState.create(
        apply_fn=model.apply,
        params=variables["params"],
        batch_stats=variables["batch_stats"],
        key=jax.random.key(1),
        tx=optax.adamw(schedule),
    )


def accuracy_of(logits: jax.Array, labels: ArrayLike) -> jax.Array:
    """Return the share of right answers."""
    return jnp.mean(jnp.argmax(logits, axis=-1) == labels)


@jax.jit
def train_step(state: TrainState, batch: Batch) -> tuple[TrainState, jax.Array, jax.Array]:
    """Move down the slope of the loss; also return the loss and the accuracy before."""
    images, labels = batch

    def loss_fn(params: Any) -> tuple[jax.Array, tuple[jax.Array, Any]]:
        logits, updates = state.apply_fn(
            {"params": params, "batch_stats": state.batch_stats},
            images,
            train=True,
            mutable=["batch_stats"],
            rngs={"dropout": jax.random.fold_in(state.key, state.step)},
        )
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
        return jnp.mean(losses), (logits, updates)

    grad_fn = jax.value_and_grad(loss_fn, has_aux=True)
    (loss, (logits, updates)), grads = grad_fn(state.params)
    state = state.apply_gradients(grads=grads, batch_stats=updates["batch_stats"])
    return state, loss, accuracy_of(logits, labels)


@jax.jit
def predict(state: TrainState, images: ArrayLike) -> jax.Array:
    """Return the logits, without dropout and with the running means of BatchNorm."""
    return state.apply_fn({"params": state.params, "batch_stats": state.batch_stats}, images)


def fit(
    epochs: int, steps: int, batches: Callable[[], Iterable[Batch]], test: Batch, report: Report
) -> TrainState:
    """Train for epochs of so many steps, and report each; `batches` returns those of one epoch."""
    images, labels = map(jnp.asarray, test)
    state = create_state(images[:1], epochs * steps)
    for _ in range(epochs):
        losses, accuracies = [], []
        for batch in batches():
            state, loss, accuracy = train_step(state, batch)
            losses.append(float(loss))
            accuracies.append(float(accuracy))
        unseen = accuracy_of(predict(state, images), labels)
        report(losses, sum(accuracies) / len(accuracies), float(unseen))
    return state
